export type Trial = {
    src: string;
    question: string;
    name: string | null;
    kiosk: boolean;
    preamble: string;
    button_label: string;
    extensions?: unknown[];
};
export type Asked = HTMLElement & {
    value?: string;
    checkValidity?: () => boolean;
    reportValidity?: () => boolean;
};
/** @typedef {{ src: string, question: string, name: string | null, kiosk: boolean, preamble: string, button_label: string, extensions?: unknown[] }} Trial */
/** @typedef {HTMLElement & { value?: string, checkValidity?: () => boolean, reportValidity?: () => boolean }} Asked */
export default class DeniableQuestionPlugin {
    jsPsych: {
        finishTrial: (data: object) => void;
    };
    static info: {
        name: string;
        version: string;
        parameters: {
            /** The link of the survey at its collector. */
            src: {
                type: number;
                default: undefined;
            };
            /** The id of the question in that survey. */
            question: {
                type: number;
                default: undefined;
            };
            /** The name of the value in the response; by default the id of the question. */
            name: {
                type: number;
                default: null;
            };
            /** Whether several people use this device, so that it must remember nobody. */
            kiosk: {
                type: number;
                default: boolean;
            };
            /** HTML above the question. */
            preamble: {
                type: number;
                default: string;
            };
            /** The button that ends the trial. */
            button_label: {
                type: number;
                default: string;
            };
        };
        data: {
            /** What chance made of the answer, by its name. */
            response: {
                type: number;
            };
        };
    };
    /** @param {{ finishTrial: (data: object) => void }} jsPsych */
    constructor(jsPsych: {
        finishTrial: (data: object) => void;
    });
    /** @param {HTMLElement} display @param {Trial} trial */
    trial(display: HTMLElement, trial: Trial): void;
    /**
     * Nobody's answer: a simulated trial has the value that its options give, or none.
     * @param {Trial} trial @param {string} _mode @param {{ data?: object }} options @param {() => void} loaded
     */
    simulate(trial: Trial, _mode: string, options: {
        data?: object;
    }, loaded: () => void): void;
}
