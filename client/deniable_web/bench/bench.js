//@ts-check
/*
 * The bench: a survey's preview, and beside it what its author should know of it.
 *
 * Every figure and nearly every sentence comes from the program that `deniable survey check` is, at /bench/figures; this page
 * lays them out. It asks for them again when the file was saved, and when somebody moves the slider, which changes no file.
 */

import { h, render } from "preact";

import { Preview } from "./preview.js";
import { figures, problem, watch } from "./state.js";
import { Findings, Groups, Outlook, Problem, Protection, Questions } from "./parts.js";

const Bench = () => {
  const survey = figures.value;
  return h(
    "div",
    { class: "bench-grid" },
    h(
      "main",
      { class: "words", id: "bench" },
      h("h1", null, document.body.dataset.file),
      h(Problem, { problem: problem.value, isOld: !!survey }),
      survey && [
        h(Outlook, { survey }),
        h(Protection, { survey }),
        h(Findings, { survey }),
        h(Questions, { survey }),
        h(Groups, { survey }),
      ],
    ),
    h(Preview, { survey }),
  );
};

render(h(Bench, null), document.body);
watch();
