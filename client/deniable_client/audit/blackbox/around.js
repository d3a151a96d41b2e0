// In the page's own world: what a page finds on the window, and on the elements in it. No code of the page runs for it.
(() => {
  const plain = (value) =>
    typeof value === "function" || (typeof value === "object" && value) ? typeof value
    : typeof value === "number" && value > 1e12 ? "a time"
    : String(value);
  const own = (element) =>
    Reflect.ownKeys(element).map((key) => {
      const { value, get } = Reflect.getOwnPropertyDescriptor(element, key);
      return `${String(key)}: ${get ? "computed" : plain(value)}`;
    });
  // States that a style sheet may select, and what screen readers are told of the element.
  const within = (internals) => {
    const said = [...(internals.states ?? []), internals.validity.valid, internals.validationMessage];
    for (const name in internals) if (/^(aria|role)/.test(name) && internals[name] !== null) said.push(`${name}: ${plain(internals[name])}`);
    return said;
  };
  const about = (element) => {
    const { value } = Reflect.getOwnPropertyDescriptor(element, "internals") ?? {};
    return [...own(element), ...(value instanceof ElementInternals && element.isConnected ? within(value) : [])];
  };
  return JSON.stringify({
    window: Reflect.ownKeys(globalThis).map(String).sort().join(),
    handlers: [globalThis, document].flatMap((each) => {
      const set = [];
      for (const name in each) if (name.startsWith("on") && each[name]) set.push(name);
      return set;
    }),
    sheets: [document.styleSheets.length, document.adoptedStyleSheets.length],
    elements: [...document.querySelectorAll("deniable-survey, deniable-question")].map(about),
  });
})()
