//@ts-check
/* Written by `npm run catalogues` from words/: the figures in English, for the library. */

export const english = {
  "lang": "en",
  "oddsYes": "Of 100 people whose true answer is Yes, about {p} send Yes and {rest} send No.",
  "oddsNo": "Of 100 people whose true answer is No, about {q} send Yes and {other} send No.",
  "near": "Answers far apart are easier to tell apart than close ones.",
  "oddsExact": "Whatever somebody believed before, what you send makes one answer, compared with another, at most {e} times as believable as it was.",
  "oddsAll": "In every case, one answer, compared with another, becomes at most {e} times as believable as it was.",
  "oddsTen": "Somebody who suspected you before can become surer, but only so far: 10 chances in 100 that you chose an answer become at most {s}, and 90 become at most {t}.",
  "guessEven": "Suppose that somebody thinks it is fifty-fifty whether you chose one particular answer. After seeing all that you send, and knowing that it is yours, that person’s best guess is right at most {g} times in 100.",
  "forced-response": "Of 100 people, about {p} send what they chose and {rest} send an option drawn by chance.",
  "k-ary": "Of 100 people who choose an option, about {p} send it and {rest} send another one.",
  "longitudinal": "Of 100 people who choose an option, all waves together show it for about {p} and another one for {rest}; one wave shows less.",
  "subset": "Your device sends {w} of the {k} options. The one that you choose is among them about {p} times in 100, and any other one about {q} times.",
  "tick-boxes": "Of 100 people who tick a box, about {p} send it as ticked; of 100 who do not, about {rest} do.",
  "drawn-boxes": "Your device picks {s} of the {k} boxes by chance and sends nothing about the others. If you ticked a box that it picked, it says so about {p} times in 100; if you did not, it says that you did about {rest} times.",
  "mean": "Your device sends only “high” or “low”. For the highest answer it sends “high” about {p} times in 100, and for the lowest one about {q} times."
};
