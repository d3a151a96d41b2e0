/*
 * The field for a link on a collector's home page. A form would send what is pasted, with the invitation behind its #, which
 * no server may see; so this reads the field and opens the survey itself.
 */

const place = document.getElementById("open");
const field = document.getElementById("link");
const bad = document.getElementById("bad");

/** A link as somebody was given it, without what letters and sentences put around it. */
function linkIn(text) {
  const end = text.includes("#") ? /[\s>"'\u200b]+$/ : /[\s>"'\u200b.,;)]+$/; // behind a # a point may belong to it
  return text.replace(/^[\s<"'\u200b]+/, "").replace(end, "");
}

/** The address of a survey's page on this server, with what follows the # of the link; nothing where there is none. */
function addressIn(link) {
  const [, survey, fragment = ""] = /(?:^|\/)([a-z2-7]{26})\/?(?:\?[^#]*)?(#.*)?$/i.exec(link) ?? [];
  return survey && `/s/${survey.toLowerCase()}${fragment}`; // phones begin a word with a capital
}

function open() {
  const link = linkIn(field.value);
  const isWhole = /^https?:\/\//.test(link);
  const address = !isWhole || URL.canParse(link) ? addressIn(link) : "";
  bad.hidden = !!address;
  field.setAttribute("aria-invalid", String(!address));
  if (!address) return field.focus();
  // The link of another server leads there, and this one is not told.
  const isElsewhere = isWhole && new URL(link).origin !== location.origin;
  location.href = isElsewhere ? link : address;
}

place.hidden = false;
place.querySelector("button").addEventListener("click", open);
field.addEventListener("keydown", ({ key }) => key === "Enter" && open());
field.addEventListener("input", () => (bad.hidden = true));
