// In an isolated world: where somebody finds on the screen what is to be pressed next. Null where there is nothing yet.
(what, argument) => {
  const middle = (element) => {
    if (!element) return null;
    element.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, top, width, height } = element.getBoundingClientRect();
    return width && height ? [left + width / 2, top + height / 2] : null;
  };
  switch (what) { // in the page around an element
    case "outside":
      return middle(document.querySelector(argument));
    case "filled":
      return !!document.querySelector("deniable-question > input[type=hidden]");
    case "stored":
      return document.readyState === "complete" && !document.querySelector("form");
  }
  const root = document.querySelector("deniable-survey, deniable-question")?.shadowRoot;
  if (!root) return null;
  const seen = (selector) => [...root.querySelectorAll(selector)].filter((each) => each.offsetParent !== null || each.getClientRects().length);
  const sets = () => seen("fieldset:not([hidden])");
  const onward = () => seen("form > .card > button:not([type]), fieldset:not([hidden]) .steps button:not([type])")[0];
  const review = () => seen(".review button[part]").at(-1);
  const nameOf = (set) => set.querySelector("input")?.name;
  switch (what) {
    case "start":
      // What stands below Start is made a moment later, and a person reads before pressing anything.
      return root.querySelector(".folds") && middle(seen(".start button").at(-1));
    case "place": {
      if (review()) return { kind: "review" };
      const set = sets().find((each) => each.querySelector("input") && !argument.includes(nameOf(each)));
      if (set) return { kind: "question", name: nameOf(set), type: set.querySelector("input").type };
      return onward() ? { kind: "onward" } : null;
    }
    case "input": {
      const [name, place] = argument;
      const inputs = sets().flatMap((set) => [...set.querySelectorAll("input")]).filter((each) => each.name === name);
      const input = inputs.find((each) => each.value === String(place)) ?? inputs[place]; // options may stand in another order
      return input && (middle(input.type === "number" ? input : (input.labels?.[0] ?? input)) ?? middle(input));
    }
    case "onward":
      return middle(onward());
    case "send":
      return middle(review());
    case "a refusal":
      return seen("button[part=button]").length > 0 && !seen(".start, form").length; // a screen that says what is wrong
    case "settled":
      return history.state?.at === 0; // after a reload the history goes back to where the survey began, which takes a moment
    case "receipt":
      return !!root.querySelector("a[href$=results]");
    case "either":
      return root.querySelector("a[href$=results]") ? "receipt" : seen(".start button")[0] ? "start" : null;
    case "folded":
      // What opens is made when it opens first, and stays; of some folds only one can be open at a time.
      return middle(seen("details:not([open]) > summary:only-child")[0]);
    case "press":
      return middle(seen(argument).at(-1));
    case "named":
      return middle(seen("button, label").filter((each) => each.textContent.includes(argument)).at(-1)); // by its words
    case "shown":
      return seen(argument).length > 0;
    case "text":
      return root.textContent.includes(argument);
  }
  return null;
}
