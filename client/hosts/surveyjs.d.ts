export type Asked = HTMLElement & {
    value?: string;
    validationMessage?: string;
};
/** Add the question type to a SurveyJS. @param {any} Survey what `import * as Survey from "survey-core"` gives */
export declare function registerDeniableQuestion(Survey: any): void;
