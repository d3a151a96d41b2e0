//@ts-check
/*
 * What the second script of a survey needs of the modules that stand in the first. The build hands on what stands here, by its
 * place, because neither script holds names; and it refuses what the second script does not need.
 */

import { arranged } from "./arrangement.js";
import { said } from "./ceiling.js";
import { picture } from "./chance.js";
import { CLIENT, addressOf, tellsUse } from "./collector.js";
import { completionOf } from "./completion.js";
import { choiceOf, randomize } from "./device.js";
import { bar, box, button, card, drawing, figures, focusOn, fold, folds, h, headInSight, heading, item, link, linked, minor, oncePainted, own, p, pairs, quiet, stack } from "./dom.js";
import { CollectorError, NotInvited, ReportConflict, ReportError, SurveyClosed, SurveyError } from "./errors.js";
import { leastOdds, results, resultsPage, sure, yesNo } from "./faq.js";
import { drawQuestions } from "./group.js";
import { demand } from "./mechanisms/base.js";
import { carrying } from "./memory.js";
import { fill, numbered } from "./messages.js";
import { of100, oddsOf, stillWrong, wholeOdds } from "./odds.js";
import { UNIT, below, bytesOf, digits, hexadecimal, random, systemWord } from "./randomness.js";
import { plain, posted } from "./requests.js";
import { needed, routeOf } from "./route.js";
import { checkedHash, code, contact, toHistory, toResults, wait } from "./screens.js";
import { keyOf } from "./sealed.js";
import { sha, utf8 } from "./sha.js";
import { dumps } from "./strict-json.js";
import { inWords } from "./wording.js";

export const given = Object.freeze([
  CLIENT, CollectorError, NotInvited, ReportConflict, ReportError, SurveyClosed, SurveyError, UNIT,
  addressOf, arranged, bar, below, box, button, bytesOf, card, carrying, checkedHash, choiceOf, code,
  completionOf, contact, demand, digits, drawQuestions, drawing, dumps, figures, fill, focusOn, fold, folds, h,
  headInSight, heading, hexadecimal, inWords, item, keyOf, leastOdds, link, linked, minor, needed, numbered, of100, oddsOf,
  oncePainted, own, p, pairs, picture, plain, posted, quiet, random, randomize, results, resultsPage, routeOf, said, sha,
  stack, stillWrong, sure, systemWord, tellsUse, toHistory, toResults, utf8, wait, wholeOdds, yesNo,
]);
