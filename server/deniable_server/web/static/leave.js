/*
 * "Leave quickly" on pages of results: another page in the place of this one, by a press or by Esc. Without this script the
 * button is a link to the same page, and Back leads back.
 */

const exit = document.querySelector(".exit a");

function leave(event) {
  event.preventDefault();
  document.title = "";
  document.body.hidden = true; // the other page takes a moment
  location.replace(exit.href);
}

exit.addEventListener("click", leave);
addEventListener("keydown", (event) => event.key === "Escape" && !event.isComposing && !event.defaultPrevented && leave(event));
