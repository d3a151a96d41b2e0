//@ts-check
/* The respondents' own page in a frame, as wide as a phone or a desktop, in the language, state and colours that one picks. */

import { signal, useComputed, useSignal } from "@preact/signals";
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** @typedef {import("./state.js").Survey} Survey */

/** What one can pick, by what a collector would say then; the same states as in server/deniable_server/authors/preview.py. */
const STATES = {
  open: "Open: the first screen",
  receipt: "Sent: the receipt",
  waiting: "Sent without a network: it waits",
  late: "Closed between Start and Send",
  refused: "The reply is refused",
  closed: "Closed",
  early: "Not open yet",
  used: "Invitation used before",
  unknown: "Invitation unknown",
};
const LANGUAGES = { en: "English", ar: "العربية", de: "Deutsch", es: "Español", fr: "Français" };
const WIDTHS = { phone: 390, desktop: 1280 };
const HEIGHTS = { phone: 780, desktop: 1400 };

const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
/** A cohort is null until one is picked: then the link is one that somebody can answer by. */
const picked = signal({ state: "open", lang: "en", cohort: /** @type {string | null} */ (null), scheme: isDark ? "dark" : "light", width: "phone", around: "alone" });
const pick = (/** @type {Partial<typeof picked.value>} */ change) => (picked.value = { ...picked.value, ...change });

/** The cohort of the link that is shown. @param {Survey} survey */
function cohortOf({ cohorts, cohort_required: isRequired }) {
  const { cohort } = picked.value;
  if (cohort !== null && (!cohort || cohorts.includes(cohort))) return cohort;
  return isRequired ? cohorts[0] : "";
}

/** @param {{ label: string, name: keyof typeof picked.value, options: Record<string, string>, value?: string }} props */
const Choice = ({ label, name, options, value: shown = picked.value[name] ?? "" }) =>
  h(
    "div",
    { class: "pick" },
    h("label", { for: `pick-${name}` }, label),
    h(
      "select",
      { id: `pick-${name}`, value: shown, onChange: (/** @type {any} */ { target }) => pick({ [name]: target.value }) },
      Object.entries(options).map(([value, text]) => h("option", { value, key: value }, text)),
    ),
  );

/** The languages of the survey before those of the words around it. @param {Survey} survey */
function languagesOf({ languages }) {
  const names = { ...LANGUAGES, ...Object.fromEntries(languages.map((each) => [each, LANGUAGES[/** @type {"en"} */ (each)] ?? each])) };
  return Object.fromEntries(Object.entries(names).map(([code, name]) => [code, languages.includes(code) ? `${name} (yours)` : languages.length ? `${name} (without your texts)` : name]));
}

/** @param {{ survey: Survey | null }} props */
export const Preview = ({ survey }) => {
  if (!survey) return h("section", { class: "look", id: "preview", "aria-label": "Preview" }, h("p", null, "The page appears when the file is a survey."));
  const isInvited = survey.access !== "open";
  const states = Object.fromEntries(Object.entries(STATES).filter(([state]) => isInvited || !/^(used|unknown)$/.test(state)));
  const named = Object.fromEntries(survey.cohorts.map((each) => [each, each]));
  const cohorts = survey.cohort_required ? { ...named, "": "none: an incomplete link" } : { "": "none", ...named };
  return h(
    "section",
    { class: "look", id: "preview", "aria-label": "Preview" },
    h(
      "div",
      { class: "picks" },
      h(Choice, { label: "Screen", name: "width", options: { phone: "Phone, 390 px", desktop: "Desktop, 1280 px" } }),
      h(Choice, { label: "State", name: "state", options: states }),
      h(Choice, { label: "Language", name: "lang", options: languagesOf(survey) }),
      h(Choice, { label: "Colours", name: "scheme", options: { light: "Light", dark: "Dark" } }),
      h(Choice, { label: "Page", name: "around", options: { alone: "On its own", framed: "In a frame of another site" } }),
      survey.cohorts.length > 0 && h(Choice, { label: "Cohort", name: "cohort", options: cohorts, value: cohortOf(survey) }),
    ),
    h(Frame, { survey, isInvited }),
  );
};

/** The address of the page that is shown. @param {Survey} survey @param {boolean} isInvited */
function addressOf(survey, isInvited) {
  const { state, lang, around, scheme } = picked.value;
  const fragment = new URLSearchParams({ lang, scheme });
  const cohort = cohortOf(survey);
  if (cohort) fragment.set("cohort", cohort);
  if (isInvited) fragment.set("invitation", "0".repeat(32));
  if (around === "framed") fragment.set("framed", "");
  return `/as/${state}/survey?of=${survey.id}#${fragment}`;
}

/** @param {{ survey: Survey, isInvited: boolean }} props */
const Frame = ({ survey, isInvited }) => {
  const width = /** @type {"phone"} */ (picked.value.width);
  const room = useRef(/** @type {HTMLDivElement | null} */ (null));
  const scale = useSignal(1);
  const address = addressOf(survey, isInvited);
  useEffect(() => {
    const { current } = room;
    if (!current) return;
    const fit = () => (scale.value = Math.min(1, current.clientWidth / WIDTHS[width]));
    const observer = new ResizeObserver(fit);
    observer.observe(current);
    fit();
    return () => observer.disconnect();
  }, [width]);
  const style = useComputed(() => scale.value).value;
  // A policy without inline styles refuses the attribute; setting properties of the element is allowed.
  const paint = (/** @type {HTMLIFrameElement | null} */ frame) => {
    if (!frame?.parentElement) return;
    Object.assign(frame.style, { transform: `scale(${style})`, width: `${WIDTHS[width]}px`, height: `${HEIGHTS[width]}px` });
    Object.assign(frame.parentElement.style, { width: `${WIDTHS[width] * style}px`, height: `${HEIGHTS[width] * style}px` });
  };
  // Another key makes another frame: a change of the fragment alone would load nothing.
  return h(
    "div",
    { class: "room", ref: room },
    h("div", { class: "window" }, h("iframe", { key: `${address} ${width}`, src: address, title: `${survey.title}, as respondents see it`, ref: paint })),
    h("p", { class: "quiet" }, h("a", { href: address, target: "_blank", rel: "noopener" }, "Open this page in a window of its own"), ". Nothing that is sent from it is kept."),
  );
};
