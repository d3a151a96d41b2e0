//@ts-check
/*
 * Every English sentence of the element. Consequences first, odds instead of figures of privacy loss, and words that
 * a twelve-year-old reads. The consent card, without the author's own texts, stays below 120 words.
 */

export const messages = Object.freeze({
  locale: "en-GB",
  loading: "Loading the survey and checking it …",
  yesNo: /** @type {Record<string, string>} */ ({ yes: "Yes", no: "No" }),

  askedBy: "Asked by ",
  consequence: "Nobody can tell your true answers from what you send.",
  process: "This device sends one answer to each question, after mixing in chance.",
  cohort: (/** @type {string} */ cohort) => ` It also sends your link’s label, “${cohort}”.`,
  cannot: "Cannot be sure of your answers",
  cannotText: "The survey’s owner, the server’s administrator, a thief of the data, a court, other respondents",
  can: "Can see them",
  canText: "Anyone who sees this screen",
  canSite: ", and the website around this form",
  oddsLeast: "Where chance does least:",
  weak: "Little protection: what you send, taken together, tells much about your true answers.",
  fleeting: "This browser does not keep data for this page. Please do not reload it.",
  start: "Start",
  nothingYet: "Nothing is sent before you press Send.",

  truthfully: "Please answer truthfully. Chance is mixed in when you press Send.",
  oddsOf: "How chance protects this answer",
  ticks: "Tick all that apply; none is an answer too.",
  range: (/** @type {number} */ lo, /** @type {number} */ hi) => `A whole number from ${lo} to ${hi}.`,
  missing: "Please choose an answer.",
  missingNumber: (/** @type {number} */ lo, /** @type {number} */ hi) =>
    `Please enter a whole number from ${lo} to ${hi}.`,
  missingSome: "Some questions still need an answer",
  missingWhy: "Leaving one out would tell something about you.",
  final: "Sending is final: afterwards you cannot change your answers or take them back.",
  send: "Send",
  sending: "Mixing in chance and sending …",

  sent: "Thank you. Your report has arrived.",
  sentBefore: "This device has already answered this survey.",
  notKept: "Your true answers were not sent or kept.",
  sentYes: "A sent Yes does not mean that you answered Yes.",
  sentOther: "What was sent need not be what you answered.",
  oddsEach: "The odds of each question",
  survey: "Survey",
  client: "Sent by",
  json: "Exactly what was sent",

  waiting: "Your report has not arrived yet",
  waitingText: "It waits here. Your true answers are forgotten, and every try sends the same report.",
  again: "Try again",

  unreachable: "The survey cannot be loaded",
  unreachableText: "Nothing was sent.",
  closed: "This survey is closed",
  closedText: (/** @type {string} */ day) => `It took answers until ${day} (UTC).`,
  early: "This survey is not open yet",
  earlyText: (/** @type {string} */ day) => `It takes answers from ${day} (UTC) on.`,
  refused: "This device refuses the survey",
  refusedText: "It mixes in too little chance. Nothing was sent.",
  notTaken: "The collector did not take the report",
  altered: "Do not answer this survey",
  alteredText:
    "This device cannot be sure that it is the survey of your link. Nothing was sent. Please tell who gave it to you.",
  details: "Details",
});
