//@ts-check
/* Written by `npm run build` from design.css and elements.css. */

export const css = `:host,:root{--accent: var(--deniable-accent, light-dark(#0b5d82, #8fcbe6));--on-accent: var(--deniable-on-accent, light-dark(#fff, #14202b));--ink: var(--deniable-ink, light-dark(#1f2428, #ece6dc));--quiet: var(--deniable-quiet, light-dark(#5f5a52, #bdb5a8));--paper: var(--deniable-paper, light-dark(#f6f1e7, #28231e));--card: var(--deniable-card, light-dark(#fff, #1c1815));--line: var(--deniable-line, light-dark(#7d7a74, #8f8b84));--hair: light-dark(#e8e0d2, #433b33);--chance: light-dark(#b4560a, #f0a95c);--danger: var(--deniable-danger, light-dark(#a3231a, #ff9d94));--radius: var(--deniable-radius, 1rem);--small: .9375rem;--text: 1.0625rem;--large: 1.25rem;--huge: clamp(1.5rem, 1.3rem + 1.2vw, 1.875rem);--gap: 1rem;--pad: clamp(1.125rem, 5vw, 2.25rem)}
*{box-sizing:border-box}
.card{min-width:0;border:1px solid;border-color:var(--hair);background:var(--card);border-radius:var(--radius);padding:var(--pad);box-shadow:0 1px 2px light-dark(#1f242814,#0004)}
.stack>*+*,form>*+*,dl>*+*,fieldset>*+*{margin-top:var(--gap)}
.box{background:var(--paper);border-radius:.75rem;padding:1rem 1.125rem}
.box>*+*{margin-top:.5rem}
.quiet,dt,code{font-size:var(--small);color:var(--quiet)}
.lead{font-size:var(--large);line-height:1.4;font-weight:600;text-wrap:balance}
p{text-wrap:pretty}
.bad{color:var(--danger);border-inline-start:.25rem solid}
.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
.text,pre{white-space:pre-line}
pre{overflow-x:auto}
code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
summary{display:flex;cursor:pointer;gap:.75rem;align-items:center;padding-block:.75rem;color:var(--accent);font-weight:600;list-style:none}
summary::-webkit-details-marker{display:none}
summary:before{content:"";width:.5rem;height:.5rem;border:solid;border-width:0 2px 2px 0;rotate:-45deg;flex:none}
:dir(rtl)>summary:before{rotate:135deg}
details[open]>summary:before{rotate:45deg}
a{color:var(--accent);text-underline-offset:.2em}
:focus-visible{outline:3px solid var(--accent)!important;outline-offset:2px}
:host{margin-inline:auto;overflow-wrap:anywhere;accent-color:var(--accent);letter-spacing:normal;display:block;color:var(--ink);font:var(--text)/1.6 var(--deniable-font, system-ui, sans-serif);text-align:start;text-transform:none;text-indent:0;white-space:normal;word-spacing:normal;width:-moz-available;width:-webkit-fill-available;width:stretch;max-width:40rem}
:host([hidden]),[hidden],:empty:is(p,div){display:none}
*{color:inherit;padding:0;font:inherit;margin:0}
h1,h2,button,legend,.missing,.lead,dt{font-weight:600}
h1{font-size:var(--huge);line-height:1.25;text-wrap:balance}
h2{font-size:var(--large);line-height:1.35}
header .quiet{margin-top:.25rem}
.logo{display:block;max-width:12rem;max-height:4rem}
.options>*+*{margin-top:.625rem}
.options{clear:both}
dl div{display:block}
dt{color:var(--ink)}
dd{margin-top:.125rem}
.said dt{color:var(--quiet);font-weight:400}
.said dd{font-weight:600;border-inline-start:3px dashed;border-color:var(--chance);padding-inline-start:.75rem}
.apart{border-top:1px solid var(--hair);padding-top:1rem;margin-top:1.5rem!important}
ul{list-style:none}
li+li{margin-top:.25rem}
legend{float:inline-start;margin-bottom:1rem;font-size:var(--large);line-height:1.3;text-wrap:balance}
[tabindex]>legend{font-size:clamp(1.375rem,1.2rem + .8vw,1.75rem)}
iframe,legend,fieldset{width:100%;border:0}
fieldset.card{border:1px solid;border-color:var(--hair)}
progress{appearance:none;display:block;width:100%;height:.5rem;border:0;border-radius:.5rem;background:var(--hair);overflow:hidden}
progress::-webkit-progress-bar{background:var(--hair)}
progress::-webkit-progress-value{background:var(--accent);border-radius:.5rem}
progress::-moz-progress-bar{background:var(--accent);border-radius:.5rem}
@media(forced-colors:active){progress{border:1px solid CanvasText}
progress::-webkit-progress-value{background:Highlight}
progress::-moz-progress-bar{background:Highlight}}
.missing{color:var(--danger)}
select,[type=number],[type=search],label{border:1px solid;border-color:var(--line);border-radius:.75rem;padding:.625rem 1rem;background:var(--card);max-width:100%}
option{color:initial}
label{display:flex;gap:.75rem;align-items:center;min-height:3.5rem}
label,button{cursor:pointer}
label:hover{background:var(--paper)}
label:has(>:checked){outline:2px solid var(--accent);background:color-mix(in srgb,var(--accent) 14%,var(--card));border-color:var(--accent)}
input{width:1.25rem;height:1.25rem;flex:none}
label>[type=radio]{appearance:none;border:2px solid var(--line);border-radius:50%}
label>[type=radio]:checked{border:.375rem solid var(--accent)}
.line>label>input{border:0!important;border-radius:inherit}
@media(forced-colors:active){label>[type=radio]{appearance:auto}}
[type=number],[type=search]{width:10rem;height:3rem}
[type=number]{appearance:textfield}
::-webkit-inner-spin-button{appearance:none;margin:0}
[type=number]+span{margin-inline-start:.5rem}
.long{height:20rem;padding:.5rem;overflow:auto}
form,.review{container-type:inline-size;contain-intrinsic-inline-size:16rem}
.unseen{visibility:hidden}
button{border:2px solid;display:block;color:var(--on-accent);border-color:var(--accent);background:var(--accent);border-radius:.75rem;padding:.625rem 1.5rem;min-height:3.25rem}
button:hover{filter:brightness(1.1)}
.minor{color:var(--accent);background:none;min-height:2.75rem;padding:.5rem 1rem;border-width:1px}
.minor:hover{background:var(--paper);filter:none}
.link{color:var(--accent);background:none;border:0;padding:0;min-height:2rem;text-align:start;text-decoration:underline;font-weight:400}
:is(h1,h2,fieldset):focus-visible{outline:0!important}
.tick{display:block;width:2.75rem;fill:var(--accent)}
.tick path{fill:none;stroke:var(--card);stroke-width:3.5;stroke-linecap:round;stroke-linejoin:round}
.exit{display:flex;justify-content:flex-end;position:sticky;top:.5rem;z-index:1;pointer-events:none}
.exit+* :is(a,button,input,select,summary){scroll-margin-block-start:4.5rem}
.exit .minor{background:var(--ink);color:var(--card);border-color:var(--ink);pointer-events:auto;box-shadow:0 0 0 .25rem var(--card)}
.exit+* .head{margin-top:-3.5rem}
.exit+* .head h1{display:flex;align-items:center;min-height:2.5rem;padding-inline-end:10rem}
.exit .minor,.chance .minor,.chance select{min-height:2.5rem;padding:.375rem .75rem;font-size:var(--small)}
.exit+*{margin-top:1rem!important}
.start button{min-width:min(10rem,100%)}
@media(max-width:40rem){.start{position:sticky;bottom:0;background:var(--card);border-top:1px solid var(--hair);padding:.75rem var(--pad);margin-inline:calc(-1 * var(--pad))}
.start button{width:100%}
.card :is(button,select,summary,a){scroll-margin-block-end:5.5rem}}
.stack>a{display:block;width:fit-content}
@media(min-width:70rem){.wide,.exit:has(+.wide){margin-inline:-11rem}
.wide .intro{display:grid;grid:repeat(12,auto) 1fr / minmax(0,1fr) 25rem;column-gap:2.5rem}
.wide .intro>*{grid-column:1}
.wide .intro>.chance{grid-area:1 / 2 / -1;align-self:start;margin:0}
.wide>:not(.intro,.folds){max-width:40rem}
.wide>.folds{display:grid;grid-template-columns:1fr 1fr;column-gap:2.5rem;align-items:start}}
.folds{border-top:1px solid var(--hair)}
.folds>details{border-bottom:1px solid var(--hair)}
details>:not(summary){margin-bottom:1rem}
.people{display:block;width:100%;max-width:26rem;margin-inline:auto}
.person,.outline{fill:none;stroke:var(--accent);stroke-width:1;transition:fill .3s}
.filled{fill:var(--accent)}
.other{stroke:var(--chance)}
.other.filled{fill:var(--chance)}
.chance{text-align:center}
.legend{display:flex;gap:.375rem;justify-content:center;align-items:center;font-weight:600}
.sign{height:1.25rem}
.sign:not(:first-child){margin-inline-start:1rem}
.caption{min-height:3.2em}
.chance>:is(p,div){text-wrap:balance}
.tries{display:grid;grid-template-columns:1fr 1fr;gap:.5rem;max-width:22rem;margin-inline:auto}
.chance label{border:0;padding:0;min-height:0;justify-content:center;flex-wrap:wrap;background:none}
.heard{position:absolute;clip-path:inset(50%)}
.tries .minor{padding-inline:.25rem}
.card>.folds:first-child{border-top:0}
@media(prefers-reduced-motion:reduce){.person{transition:none}}
@media(forced-colors:active){.person,.outline{stroke:CanvasText}
.filled{fill:CanvasText!important}}
@media print{button,.exit,details:not([open]){display:none}
.card{box-shadow:none}}
.head h1{font-weight:400;line-height:1.4;margin-bottom:.5rem}
.position{display:block;font-weight:400;margin-bottom:.25rem}
.stage{display:grid}
.even>fieldset{grid-area:1 / 1;align-self:start}
.even>[hidden]{display:block;visibility:hidden}
legend+div{clear:both}
.steps{margin-top:1.5rem!important}
.steps button:first-child{flex:1;min-width:fit-content;padding-inline:.75rem}
@container (min-width: 34rem){.steps button:first-child{flex:none;min-width:10rem;padding-inline:1.5rem}}
.steps .minor{min-height:3.25rem;border-color:transparent}
.steps .minor:hover{text-decoration:underline}
.steps~details>summary{font-size:var(--small);font-weight:400}
.missing:not(:empty){border-inline-start:.25rem solid;padding-inline-start:.75rem;margin-top:.75rem}
[aria-invalid=true]{border-color:var(--danger);box-shadow:0 0 0 1px var(--danger)}
[type=number]{font-size:var(--large)}
.cells{display:grid;gap:.5rem;grid-template-columns:repeat(auto-fill,minmax(4rem,1fr))}
.cells label{flex-flow:column;padding:.5rem .25rem}
.line{display:grid;gap:.25rem;grid-auto-columns:minmax(0,1fr);overflow-wrap:normal}
:is(.cells,.line)>*+*{margin:0}
.line label{position:relative;justify-content:center;padding:.5rem 0}
.line input{appearance:none;position:absolute;inset:0;width:100%;height:100%;border-radius:inherit;cursor:pointer}
.line :checked{background:var(--accent);outline:3px solid transparent;outline-offset:-3px}
.level,.end{position:relative;pointer-events:none}
.end{color:var(--quiet)}
.line :checked~*{color:var(--on-accent)}
.ends{display:none;justify-content:space-between;gap:1rem;width:0;min-width:100%;margin-top:.25rem}
.ends>:last-child{text-align:end}
@container (min-width: 14rem){.short{grid-auto-flow:column}
.short .end{display:none}
.short+.ends{display:flex}}
@container (min-width: 19rem){.wide{grid-auto-flow:column}
.wide .end{display:none}
.wide+.ends{display:flex}}
@container (min-width: 34rem){.wider{grid-auto-flow:column}
.wider .end{display:none}
.wider+.ends{display:flex}}
@container (min-width: 34rem){.told{grid-auto-flow:column}
.told label{flex-flow:column;justify-content:start;text-align:center;gap:.25rem}}
.rated{width:fit-content;max-width:100%}
.stars{grid-auto-flow:column;grid-auto-columns:minmax(0,3.25rem);gap:0}
.stars .end{display:none}
.stars+.ends{display:flex}
.stars label{border:0;padding:0;container-type:inline-size}
.stars label:has(:checked){outline:0;background:none}
.stars :checked{background:none;outline:0}
.stars .star{position:relative;pointer-events:none;width:1em;height:1em;font-size:min(2.5rem,90cqi);line-height:1;text-align:center;color:var(--line)}
.star:before{content:"☆"}
.stars :checked+.star,.stars label:has(~label :checked) .star{color:var(--accent)}
.stars :checked+.star:before{content:"★"}
.stars label:has(~label :checked) .star:before{content:"★"}
.grid fieldset{clear:both}
.grid fieldset legend{font-size:inherit;margin:.25rem 0}
.columns{display:none}
@container (min-width: 34rem){.columns,.grid fieldset{display:grid;grid-auto-flow:column;grid-template-columns:38%;grid-auto-columns:minmax(0,1fr);align-items:center;margin-top:0}
.columns{grid-template-columns:none;padding-inline-start:38%;text-align:center}
.grid fieldset>[id]{grid-area:2 / 1 / auto / -1;margin:0}
.grid .choices,.grid .options{display:contents}
.grid label{grid-row:1;margin:.125rem;border:0;justify-content:center}
.grid label>span{position:absolute;clip-path:inset(50%)}}
.given{display:grid;grid-template:"q q" "a c" / 1fr auto;align-items:center;gap:.25rem 1rem}
.given .link{min-height:2.75rem;min-width:2.75rem;flex:none}
.given>div{display:contents}
.given>div>:first-child{grid-area:q}
.given>div>*+*{font-weight:600;margin:0}
`;
