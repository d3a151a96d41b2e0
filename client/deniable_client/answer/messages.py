"""Every English sentence of ``deniable answer``.

Most are those of the browser, from ``client/deniable_web/words``, where each stands beside when it is shown and why
it is true. The others have to do with a terminal.
"""

import json
from importlib.resources import files

_WORDS = {
    name: sentence
    for file in sorted(files("deniable_web").joinpath("words").iterdir(), key=lambda file: file.name)
    for name, sentence in json.loads(file.read_text(encoding="utf-8")).items()
}


def _said_in_browsers(name: str) -> str:
    sentence: str = _WORDS[name]["en"]
    return sentence


def said(weak: int, /, **sentences: str) -> str:
    """Join the sentences, given by their names, that are true at a degree of `deniable.privacy.ceiling.weakness`.

    >>> said(2, unsure="Nobody can be sure.", weak="Little protection.")
    'Little protection.'
    """
    # The same rule chooses sentences in the browser.
    return " ".join(sentence for name, sentence in sentences.items() if weak in _WORDS[name]["holds"])


def numbered(text: str, n: int, **values: object) -> str:
    """Fill a number into a sentence whose singular and plural stand in one text, as in ``one=...|other=...``.

    >>> numbered("one=a minute|other={n} minutes", 3)
    '3 minutes'
    """
    forms = dict(form.split("=", 1) for form in text.split("|"))
    return forms.get("one" if n == 1 else "other", forms["other"]).format(n=n, **values)


NO = _said_in_browsers("no")
YES = _said_in_browsers("yes")
SURVEY = _said_in_browsers("survey")
ASKED_BY = _said_in_browsers("askedBy")
UNSURE = _said_in_browsers("unsure")
HINT = _said_in_browsers("hint")
WEAK = _said_in_browsers("weak")
WEAK_SENT = _said_in_browsers("weakSent")
PROCESS = _said_in_browsers("process")
PROCESS_WEAK = _said_in_browsers("processWeak")
DRAWN = _said_in_browsers("drawn")
NEEDED = _said_in_browsers("needed")
WHY = _said_in_browsers("why")
WHY_WEAK = _said_in_browsers("whyWeak")
NO_ADMISSION = _said_in_browsers("noAdmission")
OPEN = _said_in_browsers("open")
INVITED = _said_in_browsers("invited")
UNLINKABLE = _said_in_browsers("unlinkable")
INVITATION = _said_in_browsers("invitation")
INVITED_TEXT = _said_in_browsers("invitedText")
UNLINKABLE_TEXT = _said_in_browsers("unlinkableText")
COHORT = _said_in_browsers("cohort")
LIVE = _said_in_browsers("live")
CANNOT = _said_in_browsers("cannot")
GUESS = _said_in_browsers("guess")
CAN = _said_in_browsers("can")
ODDS_LEAST = _said_in_browsers("oddsLeast")
KIOSK_OTHER = _said_in_browsers("kioskOther")
TOLD = _said_in_browsers("told")
SAME = _said_in_browsers("same")
QUESTIONS_HERE = _said_in_browsers("questionsHere")
MINUTES = _said_in_browsers("minutes")
CONTACT = _said_in_browsers("contact")
CONTACT_SHOWS = _said_in_browsers("contactShows")
ODDS = _said_in_browsers("odds")
ODDS_WEAK = _said_in_browsers("oddsWeak")
RANGE = _said_in_browsers("range")
MISSING = _said_in_browsers("missing")
REVIEW = _said_in_browsers("review")
YOURS = _said_in_browsers("yours")
NONE = _said_in_browsers("none")
FINAL = _said_in_browsers("final")
CHECKING = _said_in_browsers("checking")
SENDING = _said_in_browsers("sending")
WAITING = _said_in_browsers("waiting")
DONE = _said_in_browsers("done")
SENT = _said_in_browsers("sent")
SENT_BEFORE = _said_in_browsers("sentBefore")
NOT_KEPT = _said_in_browsers("notKept")
SENT_KEPT = _said_in_browsers("sentKept")
MIXED_IN = _said_in_browsers("mixedIn")
CHANCE = _said_in_browsers("chance")
RESULTS = _said_in_browsers("results")
CLIENT = _said_in_browsers("client")
JSON = _said_in_browsers("json")
INVITED_USED = _said_in_browsers("invitedUsed")
UNLINKABLE_USED = _said_in_browsers("unlinkableUsed")
RESULTS_LIST = _said_in_browsers("resultsList")
RESULTS_LIST_WEAK = _said_in_browsers("resultsListWeak")
RESULTS_TOTALS = _said_in_browsers("resultsTotals")
RESULTS_PUBLIC = _said_in_browsers("resultsPublic")
RESULTS_TOKEN = _said_in_browsers("resultsToken")
RESULTS_LIVE = _said_in_browsers("resultsLive")
RESULTS_BATCHES = _said_in_browsers("resultsBatches")
OF_GROUP = _said_in_browsers("ofGroup")
RESULTS_CLOSED = _said_in_browsers("resultsClosed")
CODE_IS = _said_in_browsers("codeIs")
IN_WORDS_TEXT = _said_in_browsers("inWordsText")
NOT_DRAWN = _said_in_browsers("notDrawn")
NOT_ASKED = _said_in_browsers("notAsked")
UNKNOWN = _said_in_browsers("unknown")
USED_BEFORE = _said_in_browsers("usedBefore")
UNREACHABLE = _said_in_browsers("unreachable")
UNREACHABLE_TEXT = _said_in_browsers("unreachableText")
CUT = _said_in_browsers("cut")
INCOMPLETE = _said_in_browsers("incomplete")
EARLY = _said_in_browsers("early")
CLOSED = _said_in_browsers("closed")
CLOSED_NOW = _said_in_browsers("closedNow")
CLOSED_FULL = _said_in_browsers("closedFull")
NOTHING_ASKED = _said_in_browsers("nothingAsked")
REFUSED = _said_in_browsers("refused")
NOT_TAKEN = _said_in_browsers("notTaken")
TOO_LATE = _said_in_browsers("tooLate")
ALTERED = _said_in_browsers("altered")
ALTERED_TEXT = _said_in_browsers("alteredText")

CODE_SAME = _said_in_browsers("codeSame")
CODE_DRAWN = _said_in_browsers("codeDrawn")
SENT_SET = "{what} (sent together)"
SENT_HIGH = _said_in_browsers("sentHigh")
SENT_LOW = _said_in_browsers("sentLow")
SENT_OTHERS = _said_in_browsers("sentOthers")
SENT_STEP = _said_in_browsers("sentStep")
SENT_BOX = _said_in_browsers("sentBox")
SENT_NO_BOX = _said_in_browsers("sentNoBox")
DEVICE_LIMIT = _said_in_browsers("deviceLimit")
DEVICE_LEFT = _said_in_browsers("deviceLeft")
FORGET_TEXT = _said_in_browsers("forgetText")

UNTRUSTED_TEXT = (
    "The server cannot prove who it is, so your device sent nothing to it. Please tell the person who gave you the"
    " link."
)
UNSIGNED = "Your invitation could not be exchanged for a token"
CANNOT_TEXT = (
    "This holds for the researchers and other people who take part, and even for a court, or for somebody who stole the"
    " data. As long as nobody secretly changes this program, none of them gets more than what your device sends."
)
CAN_TEXT = "Chance hides nothing from anyone who looks at this screen, or who controls this device."
KIOSK = "This device keeps nothing of you, so please answer once."
KIOSK_CLEARED = (
    "This device has forgotten what you chose, and keeps nothing of what was sent. Please close this window before"
    " somebody else uses this device."
)
DRAWN_KEPT = "Once you start, your device remembers which questions it picked."
OTHER = "Press Enter if you are another person, or type stop: "
START = "Press Enter to start, or type ? for who could learn what and what chance does, or stop: "
NOTHING_YET = "No answer is sent before you type send, and then only with chance mixed in."
HASH_SENT = (
    "This device has asked the server whether your invitation is unused, so the server can tell that your link"
    " was opened. None of your answers is sent before you type send, and then only with chance mixed in."
)
START_SENDS = (
    "When you start, this device sends your invitation to have it checked. None of your answers is sent before"
    " you type send, and then only with chance mixed in."
)
TRUTHFULLY = "Please answer truthfully. Your device mixes in chance when you type send."
HIDDEN = "What you type as an answer is not shown. Type ? for what chance does to it, back, or stop."
PLACE = "{n} of {all}"
PLACE_MOST = "{n} of at most {all}"
PROMPT_YES_NO = "Your answer, yes or no: "
PROMPT_CHOICE = "Your answer, a number from 1 to {k}: "
PROMPT_TICKS = "Your answer, numbers with spaces between, or 0 for none: "
PROMPT_NUMBER = "Your answer, from {lo} to {hi}: "
TAKEN = "Answered."
ANSWERED = "answered"
MISSING_WHY = "Please answer every question, or type stop: no answer is sent before you type send."
TICKS = "Choose all that apply, or 0 if none apply."
TICKS_OR_NONE = "Choose all that apply."
EXCLUSIVE = "Choose “{option}” alone, or others."
REVIEW_PROMPT = "Type send, the number of a question to answer it again, show to read your answers, or stop: "
REVIEW_UNKNOWN = "Please type send, a number, show or stop."
SHOWN = "Press Enter to take your answers off the screen: "
STOPPED = "Stopped. No answer was sent, and none is kept."
STOPPED_INVITED = "Stopped. No answer was sent, and none is kept. Please use the same link again, on this device."
STOPPED_INVITED_KIOSK = (
    "Stopped. No answer was sent, and none is kept. This device keeps nothing, so your invitation may not work again."
)
STOPPED_LATE = "Stopped. Your reply waits on this device. To send it: deniable answer --resend"
STOPPED_LATE_KIOSK = (
    "Stopped. This device keeps nothing of the reply, which may have arrived. Please do not answer again."
)
REFUSED_TEXT = (
    "You have done nothing wrong, and nothing was sent.\n"
    "This survey would give away more about you than your device allows, on its own or together with other surveys of"
    " the last 90 days.\n"
    "You need not do anything more. If you like, tell the person who gave you the link."
)
CHANCE_OTHER = "What was sent need not be what you answered."
ODDS_EACH = "What chance does to each question"
WAITING_TEXT = (
    "Your reply waits here, with chance mixed in. Your answers themselves are already forgotten, and every try"
    " sends the same reply."
)
AGAIN_AT = (
    "The server asks this device to wait. Your device sends the same reply again at {time}; you can leave this"
    " window open, or stop with Ctrl-C."
)
AGAIN = "Press Enter to try again, or type stop: "
NONE_WAITS = "No reply waits on this device."
CLOSED_TEXT = "It took replies until {day} (UTC)."
EARLY_TEXT = "It takes replies from {day} (UTC) on."
DETAILS = "For experts"
TRY_TITLE = "What your device would send if you typed send 100 times; nothing is sent now."
TRY_IF = "If the true answer is {answer}:"
TRY_NOTHING = "none chosen"
TRY_EVERYTHING = "all chosen"
TRY_SAME = "the very answer"
TRY_OTHER = "another one"
NO_TERMINAL = (
    "deniable answer: asks a person, and must have a terminal for that; programs use deniable_client.Client. "
    "Only --try and --resend work without one"
)

DEVICE_TITLE = "What this device remembers about surveys, outside browsers"
DEVICE_NONE = "Outside browsers, this device remembers no reply to a survey."
DEVICE_NOT_THIS = "Outside browsers, this device remembers no reply to this survey."
DEVICE_ALL = "Of the limit for all servers together, {n} % is used."
DEVICE_EACH = "You answered {survey}, and your reply has arrived."
DEVICE_WAITS = "You answered {survey}, and your reply has not arrived yet."
DEVICE_REFUSED = "You answered {survey}, but the server did not accept your reply."
HISTORY_WORDS = "What your device told one of them, in words: deniable answer LINK --history"
FORGET_FILE = "To forget everything, delete this file: {path}"
