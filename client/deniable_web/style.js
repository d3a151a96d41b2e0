//@ts-check
/*
 * How the element looks. Nothing moves. A constructed stylesheet needs no inline style, so style-src 'self' is enough.
 *
 * For the page around it: parts, and the properties --deniable-accent, -on-accent, -ink, -quiet, -paper, -card,
 * -line, -danger, -radius and -font.
 * Light and dark follow the page's own color-scheme, so the element never turns dark on a page that stays light. A
 * browser that does not know light-dark() shows the same in the page's own colours.
 */

export const css = `
:host {
  --ink: var(--deniable-ink, light-dark(#1c2530, #e4eaf0));
  --quiet: var(--deniable-quiet, light-dark(#566270, #9fabb8));
  --card: var(--deniable-card, light-dark(#fff, #171e26));
  --soft: var(--deniable-paper, light-dark(#f3f6f9, #1f2832));
  --line: var(--deniable-line, light-dark(#d5dce4, #303b47));
  --edge: light-dark(#7b8794, #7d8a98);
  --accent: var(--deniable-accent, light-dark(#0b5d82, #6cc5ee));
  --on-accent: var(--deniable-on-accent, light-dark(#fff, #08202c));
  --danger: var(--deniable-danger, light-dark(#a8261c, #ff9d92));
  display: block;
  box-sizing: border-box;
  max-inline-size: 40rem;
  margin-inline: auto;
  color: var(--ink);
  font: 1.0625rem/1.6 var(--deniable-font, system-ui, sans-serif);
  overflow-wrap: anywhere;
}
:host([hidden]), div:empty { display: none; }
*, ::before { box-sizing: border-box; }
h1, h2, p, ul, dl, dd, fieldset, legend, pre { margin: 0; padding: 0; }
h1 { font-size: clamp(1.4rem, 1.2rem + 1.2vw, 1.8rem); }
h2, legend { font-size: 1.125rem; font-weight: 600; }
h1, h2, legend { line-height: 1.3; }
ul { list-style: none; }
form, .stack, .box, dl, .options { display: grid; gap: 1rem; }
.card {
  min-inline-size: 0;
  padding: clamp(1rem, 4vw, 2rem);
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: var(--deniable-radius, .875rem);
  box-shadow: 0 2px 12px #0f1c2b14;
}
.text { white-space: pre-line; }
.quiet, dt, summary { color: var(--quiet); font-size: .9375rem; }
.lead { font-size: 1.1875rem; font-weight: 600; }
.box, label, .number input, button { padding: .625rem 1rem; border-radius: .625rem; }
.box { background: var(--soft); gap: .5rem; }
.bad { border-inline-start: .25rem solid var(--danger); }
code { font: .875rem/1.5 ui-monospace, monospace; }
pre { white-space: pre-wrap; word-break: break-all; }
svg { display: block; inline-size: 100%; block-size: .5rem; margin-block: .5rem .25rem;
  background: var(--line); border-radius: .25rem; }
:dir(rtl) svg { transform: scaleX(-1); }
rect { fill: var(--accent); }
fieldset { display: block; }
legend { float: inline-start; inline-size: 100%; margin-block-end: 1rem; }
legend + * { clear: both; }
.options { gap: .5rem; margin-block-end: 1rem; }
label, .number input { border: 1px solid var(--edge); }
label { display: flex; gap: .75rem; align-items: baseline; cursor: pointer; }
label:hover, label:has(:checked) { background: var(--soft); border-color: var(--accent); }
label:has(:checked) { box-shadow: inset 0 0 0 1px var(--accent); }
label input { flex: none; inline-size: 1.125rem; block-size: 1.125rem; margin: 0; accent-color: var(--accent);
  translate: 0 .1875rem; }
.scale { display: flex; flex-wrap: wrap; gap: .25rem; }
.scale label { flex-direction: column; gap: .25rem; align-items: center; min-inline-size: 2.75rem;
  padding: .5rem .25rem; }
.scale input { translate: none; }
.number input { inline-size: 10rem; max-inline-size: 100%; font: inherit; color: inherit; background: var(--card); }
.number [aria-invalid=true] { border: 2px solid var(--danger); }
[id^=hint], .missing { margin-block-end: .75rem; }
.missing { color: var(--danger); font-weight: 600; }
button {
  justify-self: start;
  min-block-size: 3rem;
  padding-inline: 2rem;
  font: inherit;
  font-weight: 600;
  color: var(--on-accent);
  background: var(--accent);
  border: 2px solid transparent; /* forced colours show it */
  cursor: pointer;
}
button:disabled { opacity: .5; }
.link { min-block-size: 1.75rem; padding: 0; text-align: start; font-weight: 400; text-decoration: underline;
  color: var(--danger); background: none; border: 0; }
summary { inline-size: fit-content; padding-block: .125rem; cursor: pointer; }
details[open] > summary { margin-block-end: .5rem; }
:focus { outline: none; }
:focus-visible, label:has(:focus-visible) { outline: 3px solid var(--accent); outline-offset: 2px; }
label :focus-visible { outline: none; }
@media (min-width: 36rem) { dl div { display: grid; grid-template-columns: 11rem 1fr; gap: 1rem; align-items: baseline; } }
@media (forced-colors: active) {
  svg { border: 1px solid; }
  rect { fill: Highlight; }
  label:has(:checked) { border: 3px solid Highlight; }
}
`;
