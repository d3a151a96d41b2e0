//@ts-check
/*
 * How the elements look. Nothing moves. A constructed stylesheet needs no inline style, so style-src 'self' is enough.
 *
 * For the page around it: parts, and the properties --deniable-accent, -on-accent, -ink, -quiet, -paper, -card,
 * -line, -danger, -radius and -font.
 * Light and dark follow the page's own color-scheme, so the element never turns dark on a page that stays light. A
 * browser that does not know light-dark() shows the same in the page's own colours.
 */

export const css = `
:host {
  --quiet: var(--deniable-quiet, light-dark(#566270, #9fabb8));
  --soft: var(--deniable-paper, light-dark(#f3f6f9, #1f2832));
  --line: var(--deniable-line, light-dark(#7b8794, #7d8a98));
  --accent: var(--deniable-accent, light-dark(#0b5d82, #6cc5ee));
  --danger: var(--deniable-danger, light-dark(#a8261c, #ff9d92));
  display: block;
  max-inline-size: 40rem;
  margin-inline: auto;
  color: var(--deniable-ink, light-dark(#1c2530, #e4eaf0));
  font: 1.0625rem/1.6 var(--deniable-font, system-ui, sans-serif);
  overflow-wrap: anywhere;
  accent-color: var(--accent);
}
:host([hidden]), [hidden], :empty:is(p, div) { display: none; }
* { box-sizing: border-box; margin: 0; font: inherit; color: inherit; }
h1, h2, legend, button, .lead, .missing { font-weight: 600; }
h1 { font-size: 1.5rem; line-height: 1.3; }
form, .stack, .box, dl, .options, fieldset, label, .row { display: grid; gap: 1rem; }
.box, .options, label { gap: .5rem; }
.card {
  min-inline-size: 0;
  padding: clamp(1rem, 4vw, 2rem);
  background: var(--deniable-card, light-dark(#fff, #171e26));
  border: 1px solid var(--soft);
  border-radius: var(--deniable-radius, 1rem);
}
legend { float: inline-start; }
.text { white-space: pre-line; }
.quiet, dt, summary, code { color: var(--quiet); font-size: .9375rem; }
.box { background: var(--soft); }
.box, label, button, select, [type=number] { padding: .5rem 1rem; border-radius: .5rem; }
.bad { border-inline-start: .25rem solid; }
.bad, .missing { color: var(--danger); }
code { font-family: monospace; }
pre { white-space: pre-wrap; }
progress { inline-size: 100%; }
label, select, [type=number] { border: 1px solid var(--line); background: none; max-inline-size: 100%; }
option { color: initial; }
label { grid-template-columns: auto 1fr; place-items: center start; cursor: pointer; }
label:has(:checked) { outline: 2px solid var(--accent); background: var(--soft); }
input { inline-size: 1.25rem; block-size: 1.25rem; }
[type=number] { inline-size: 10rem; block-size: 3rem; }
.scale, .row { display: flex; flex-wrap: wrap; }
.scale label { grid-template-columns: auto; justify-items: center; padding: .5rem; }
ul { padding: 0; list-style: none; }
button {
  justify-self: start;
  min-block-size: 3rem;
  color: var(--deniable-on-accent, light-dark(#fff, #08202c));
  background: var(--accent);
  border: 2px solid transparent; /* forced colours show it */
  cursor: pointer;
}
.link { min-block-size: 1.75rem; padding: 0; text-align: start; text-decoration: underline; color: inherit; background: none; }
summary { inline-size: fit-content; padding-block: .25rem; cursor: pointer; }
iframe { inline-size: 100%; border: 0; }
:focus-visible { outline: 3px solid var(--accent) !important; outline-offset: 2px; }
@media (min-width: 36rem) { dl div { display: grid; grid-template-columns: 11rem 1fr; gap: 1rem; } }
@media (forced-colors: active) { label:has(:checked) { outline-color: Highlight; } }
`;
