// Light and dark: as the reader has it, until the button is pressed; frames of the page follow it.

const tell = (frame) => frame.contentWindow?.postMessage({ theme: document.documentElement.dataset.theme }, "*");

document.getElementById("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--is-dark").trim() === "1";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  document.querySelectorAll("iframe").forEach(tell);
});

addEventListener("message", ({ source, data: told }) => {
  if (source === window.parent && ["light", "dark"].includes(told?.theme)) document.documentElement.dataset.theme = told.theme;
});
