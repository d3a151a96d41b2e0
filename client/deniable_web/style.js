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
  margin-inline: auto;
  overflow-wrap: anywhere;
  accent-color: var(--a);
  letter-spacing: normal;
  display: block;
  color: var(--deniable-ink, light-dark(#123, #def));
  --a:var(--deniable-accent, light-dark(#0b5d82, #6cc5ee));
  --s:var(--deniable-paper, light-dark(#f3f6f9, #223));
  font: 1.06rem/1.6 var(--deniable-font, system-ui, sans-serif);
  text-align: start;
  text-transform: none;
  /* As wide as there is room, also where a page's grid or table would ask how wide the text is: forms below do not say. */
  width: -moz-available;
  width: -webkit-fill-available;
  width: stretch;
  max-width: 40rem;
}
:host([hidden]), [hidden], :empty:is(p, div) { display: none; }
* { color: inherit; padding: 0; box-sizing: border-box; font: inherit; margin: 0; }
h1, button, .missing, .lead, h2, legend { font-weight: 600; }
h1 { line-height: 1.3; font-size: 1.5rem; }
:is(form, .stack, dl, fieldset) > * + * { margin-top: 1rem; }
:is(.box, .options) > * + * { margin-top: .5rem; }
dl div, .row, li, label { flex-wrap: wrap; display: flex; gap: .5rem; }
label { flex-wrap: nowrap; align-items: center; }
dt { width: 11rem; }
dd { flex: 14rem; }
.card {
  min-width: 0;
  border: 1px solid;
  background: var(--deniable-card, light-dark(#fff, #112));
  border-color: var(--s);
  border-radius: var(--deniable-radius, 1rem);
  padding: clamp(1rem, 4vw, 2rem);
}
legend { float: inline-start; margin-bottom: 1rem; }
iframe, legend { width: 100%; border: 0; }
progress { appearance: none; display: block; width: 100%; height: .75rem; border: 1px solid var(--a); border-radius: .5rem; background: var(--s); overflow: hidden; }
progress::-webkit-progress-bar { background: var(--s); }
progress::-webkit-progress-value { background: var(--a); }
progress::-moz-progress-bar { background: var(--a); }
@media (forced-colors: active) { progress { appearance: auto; } }
summary, dt, .quiet, code { font-size: .94rem; color: var(--deniable-quiet, light-dark(#567, #9ab)); }
.box { background: var(--s); }
.box, select, [type=number], [type=search], label, button { border-radius: .5rem; padding: .5rem 1rem; }
.bad { border-inline-start: .25rem solid; }
.missing, .bad { color: var(--deniable-danger, light-dark(#a21, #f99)); }
code { font-family: monospace; }
.text, pre { white-space: pre-line; }
select, [type=number], [type=search], label {
  border: 1px solid;
  background: none;
  max-width: 100%;
  border-color: var(--deniable-line, light-dark(#567, #9ab));
}
option { color: initial; }
summary, label, button { cursor: pointer; }
label:has(:checked) { outline: 2px solid var(--a); background: var(--s); }
input { width: 1.25rem; height: 1.25rem; flex: none; }
[type=number], [type=search] { width: 10rem; height: 3rem; }
.options { clear: both; }
.long { height: 20rem; padding: .5rem; overflow: auto; }
form { container-type: inline-size; contain-intrinsic-inline-size: 16rem; }
.unseen { visibility: hidden; }
.line, .cells { display: grid; gap: .5rem; }
.cells { grid-template-columns: repeat(auto-fill, minmax(4rem, 1fr)); }
.line > * + *, .cells > * + * { margin: 0; }
.cells label { flex-flow: column; padding: .5rem .25rem; }
@container (min-width: 34rem) { /* on phones a scale stands upright: in one line its ends would be too narrow */
  .line { grid-auto-flow: column; grid-auto-columns: minmax(min-content, 1fr); gap: .25rem; overflow-wrap: normal; }
  .line label { flex-flow: column; padding: .5rem .25rem; text-align: center; }
}
button {
  border: 2px solid; /* forced colours show it */
  display: block;
  color: var(--deniable-on-accent, light-dark(#fff, #112));
  border-color: var(--a);
  background: var(--a);
  min-height: 3rem;
}
.minor, .link { color: inherit; background: none; }
.minor { min-height: 2.75rem; color: var(--a); }
.link { border: 0; padding: 0; min-height: 2rem; text-align: start; text-decoration: underline; }
summary { width: fit-content; padding-block: .25rem; }
:focus-visible { outline: 3px solid var(--a) !important; outline-offset: 2px; }
`;
