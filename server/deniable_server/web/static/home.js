/*
 * The field for a link on a collector's home page. A form would send what is pasted, with the invitation behind its #, which
 * no server may see; so this reads the field and opens the survey itself.
 */

const place = document.getElementById("open");
const field = document.getElementById("link");
const bad = document.getElementById("bad");

/** The address of a survey's page on this server, with what follows the # of the link; nothing where there is none. */
function addressIn(text) {
  const [, survey, fragment = ""] = /(?:^|\/)([a-z2-7]{26})\/?(?:\?[^#]*)?(#.*)?$/.exec(text.trim()) ?? [];
  return survey && `/s/${survey}${fragment}`;
}

function open() {
  const address = addressIn(field.value);
  bad.hidden = !!address;
  field.setAttribute("aria-invalid", String(!address));
  if (!address) return field.focus();
  // The link of another server leads there, and this one is not told.
  const whole = field.value.trim();
  const elsewhere = /^https?:\/\//.test(whole) && new URL(whole).origin !== location.origin;
  location.href = elsewhere ? whole : address;
}

place.hidden = false;
place.querySelector("button").addEventListener("click", open);
field.addEventListener("keydown", ({ key }) => key === "Enter" && open());
field.addEventListener("input", () => (bad.hidden = true));
