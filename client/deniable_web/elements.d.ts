// What TypeScript knows of a page with the elements: their tags, and their attributes in JSX.

import type { DeniableSurvey } from "./element.js";
import type { DeniableQuestion } from "./question.js";

interface Attributes {
  src?: string;
  lang?: string;
  title?: string;
  class?: string;
  className?: string;
  id?: string;
  children?: unknown;
  ref?: unknown;
  key?: string | number | null;
  part?: string;
  slot?: string;
  style?: unknown;
  hidden?: boolean;
  dir?: "ltr" | "rtl" | "auto";
  /** What a page has ready, so that nothing more is fetched. */
  document?: string;
  catalogue?: string;
  /** What the elements announce, as React 19 listens: `ondeniable-complete`. */
  [event: `ondeniable-${string}`]: ((event: any) => void) | undefined;
}

/** Write `true` or leave it out; the word "false" counts as left out. */
type Switch = boolean | "" | "true" | "false";

export interface DeniableElements {
  "deniable-survey": Attributes & { isolated?: Switch; kiosk?: Switch; place?: string };
  "deniable-question": Attributes & { name?: string; question?: string; form?: string; disabled?: boolean; kiosk?: Switch; onChange?: (event: any) => void };
}

declare module "./base-element.js" {
  interface DeniableElement {
    src: string;
    name: string;
    kiosk: boolean;
    /** Of <deniable-survey> alone. */
    isolated: boolean;
  }
}

declare module "./question.js" {
  interface DeniableQuestion {
    /** Set, the id of a form, as frameworks do; read, the form itself. */
    get form(): HTMLFormElement | null;
    set form(id: string);
    readonly labels: NodeList;
    readonly validationMessage: string;
    readonly validity: ValidityState;
    readonly willValidate: boolean;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "deniable-survey": DeniableSurvey;
    "deniable-question": DeniableQuestion;
  }
  namespace JSX {
    interface IntrinsicElements extends DeniableElements {}
  }
}
