/* The buttons that copy a sentence. Without this script they stay hidden, and the sentence can be marked by hand. */

for (const button of document.querySelectorAll("button.copy")) {
  const sentence = button.previousElementSibling;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await copy(sentence);
    button.textContent = button.dataset.done;
  });
}

/** Browsers give a page its clipboard over TLS and at this computer alone; elsewhere the older command does it. */
async function copy(sentence) {
  if (navigator.clipboard) return navigator.clipboard.writeText(sentence.textContent);
  getSelection().selectAllChildren(sentence);
  document.execCommand("copy");
}
