//@ts-check
/*
 * How the elements look. Nothing moves. A constructed stylesheet needs no inline style, so style-src 'self' is enough.
 *
 * For the page around it: parts, and the properties --deniable-accent, -on-accent, -ink, -quiet, -paper, -card,
 * -line, -danger, -radius and -font.
 * Light and dark follow the page's own color-scheme, so the element never turns dark on a page that stays light. A
 * browser that does not know light-dark() shows the same in the page's own colours: a border has its colour apart from its
 * width, so that it stays where the colour is not understood.
 *
 * What text inherits from the page around, beyond the properties above, is set back where it would harm reading.
 */

export const css = `
:host {
  --soft:var(--deniable-paper, light-dark(#f3f6f9, #1f2832));
  --accent:var(--deniable-accent, light-dark(#0b5d82, #6cc5ee));
  display: block;
  max-width: 40rem;
  margin-inline: auto;
  color: var(--deniable-ink, light-dark(#1c2530, #e4eaf0));
  font: 1.0625rem/1.6 var(--deniable-font, system-ui, sans-serif);
  letter-spacing: normal;
  text-align: start;
  text-transform: none;
  overflow-wrap: anywhere;
  accent-color: var(--accent);
}
:host([hidden]), [hidden], :empty:is(p, div) { display: none; }
* { box-sizing: border-box; margin: 0; padding: 0; font: inherit; color: inherit; }
h1, h2, legend, button, .lead, .missing { font-weight: 600; }
h1 { font-size: 1.5rem; line-height: 1.3; }
:is(form, .stack, dl, fieldset) > * + * { margin-top: 1rem; }
:is(.box, .options) > * + * { margin-top: .5rem; }
label, .row, .scale, dl div { display: flex; flex-wrap: wrap; gap: .5rem; }
label { flex-wrap: nowrap; align-items: center; }
dt { width: 11rem; }
dd { flex: 14rem; }
.card {
  min-width: 0;
  padding: clamp(1rem, 4vw, 2rem);
  background: var(--deniable-card, light-dark(#fff, #171e26));
  border: 1px solid;
  border-color: var(--soft);
  border-radius: var(--deniable-radius, 1rem);
}
legend { float: inline-start; margin-bottom: 1rem; }
legend, progress, iframe { width: 100%; border: 0; }
.quiet, dt, summary, code { color: var(--deniable-quiet, light-dark(#566270, #9fabb8)); font-size: .9375rem; }
.box { background: var(--soft); }
.box, label, button, select, [type=number] { padding: .5rem 1rem; border-radius: .5rem; }
.bad { border-inline-start: .25rem solid; }
.bad, .missing { color: var(--deniable-danger, light-dark(#a8261c, #ff9d92)); }
code { font-family: monospace; }
pre, .text { white-space: pre-line; }
label, select, [type=number] { border: 1px solid; border-color: var(--deniable-line, light-dark(#566270, #9fabb8)); background: none; max-width: 100%; }
option { color: initial; }
label, button, summary { cursor: pointer; }
label:has(:checked) { outline: 2px solid var(--accent); background: var(--soft); }
input { flex: none; width: 1.25rem; height: 1.25rem; }
[type=number] { width: 10rem; height: 3rem; }
.options { clear: both; }
.scale label { flex-flow: column; margin: 0; padding: .5rem; }
ul { list-style: none; }
button {
  display: block;
  min-height: 3rem;
  color: var(--deniable-on-accent, light-dark(#fff, #171e26));
  background: var(--accent);
  border: 2px solid; /* forced colours show it */
  border-color: var(--accent);
}
.link { min-height: 1.75rem; padding: 0; text-align: start; text-decoration: underline; color: inherit; background: none; }
summary { width: fit-content; padding-block: .25rem; }
:focus-visible { outline: 3px solid var(--accent) !important; outline-offset: 2px; }
`;
