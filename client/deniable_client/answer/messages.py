"""Every English sentence of ``deniable answer``.

Those whose name is also in ``client/deniable_web/catalogues/en.json`` are the same there, except where a terminal has
no button to press; a test compares them. They are not read from there, so that this client stands without the other.
"""

YES = "Yes"
NO = "No"

ASKED_BY = "Asked by"
CONTACT = "Questions to"
UNSURE = "From what you send, nobody can be sure what is true for you."
HINT = "What you send is a hint, not proof."
PROCESS = "This device mixes chance into every answer before it sends anything."
DRAWN = "This device draws {n} of the {all} questions by chance, and asks you only these."
DRAWN_KEPT = "Once you start, it remembers which."
FACTS = "Questions: {n}. Voluntary. If you leave, no answer is kept."
WHY = "True answers help: researchers subtract chance for everybody together."
NO_ADMISSION = "If chance sends Yes for you, that is no admission."
OPEN = "One report a person: not enforced."
INVITED = "One report a person, by invitation; the operator could note whose, while it arrives."
UNLINKABLE = "One report a person, by blind token; the token does not tell whose."
INVITED_TEXT = (
    "The collector sees that somebody invited answers, once. Whoever runs it could note which invitation came with "
    "your report; nothing that is kept links the two."
)
UNLINKABLE_TEXT = (
    "This device gets a token for it, which whoever signs it cannot see. The collector sees that somebody invited "
    "answers, once, and cannot tell by the token who."
)
INVITATION = "Your invitation"
CHECKING = "Checking your invitation …"
NOT_ASKED = (
    "You were not asked anything yet. If the whole link of your own invitation does not help, ask whoever sent it to "
    "you."
)
UNKNOWN = "This invitation is not known here"
USED_BEFORE = "This invitation was used before"
INVITED_USED = "Your invitation is used: it counts once."
UNLINKABLE_USED = "Your token is spent: it counts once, and does not tell who you are."
UNSIGNED = "The token cannot be had"
COHORT = "It also sends your link’s label, “{cohort}”."
LIVE = "Results change with every report: whoever watches them can tell what your device sent."
CANNOT = "Cannot be sure of your answers"
GUESS = "Can guess your answers well"
CANNOT_TEXT = "The survey’s owner, a thief of the data, a court, other respondents."
CAN = "Can see them"
CAN_TEXT = "Anyone who sees this screen."
ODDS_LEAST = "Where chance does least:"
WEAK = "Little protection: what you send, taken together, tells much about your true answers."
KIOSK = "This device keeps nothing. Please answer once: further reports tell more about you."
KIOSK_OTHER = "Go on only if you are another person: two reports tell more about a person than one."
OTHER = "Press Enter if you are another person, or type stop: "
SAME = (
    "You were asked this before, all or in part: this device goes by what chance made of it then, "
    "whatever you answer now."
)
TOLD = (
    "Share of what this device tells in 90 days at most, this survey included: {own} % to this collector, "
    "{all} % to all together."
)
START = "Press Enter to start, or type ? for how chance protects you, or stop: "
NOTHING_YET = "Nothing is sent before you type send."
HASH_SENT = (
    "This device has asked whether your invitation is unused, so the collector can tell that it was opened; nothing "
    "else goes before you type send."
)
START_SENDS = "Start sends your invitation; nothing else goes before you type send."

TRUTHFULLY = "Please answer truthfully. Chance is mixed in when you type send."
HIDDEN = "What you type as an answer is not shown. Type ? for how chance protects it, back, or stop."
ODDS = "How chance protects you"
PLACE = "{n} of {all}"
TICKS = "Tick all that apply; none is an answer too."
RANGE = "A whole number from {lo} to {hi}."
PROMPT_YES_NO = "Your answer, yes or no: "
PROMPT_CHOICE = "Your answer, a number from 1 to {k}: "
PROMPT_TICKS = "Your answer, numbers with spaces between, or 0 for none: "
PROMPT_NUMBER = "Your answer, from {lo} to {hi}: "
TAKEN = "Answered."
MISSING = "Please choose an answer."
MISSING_WHY = "Leaving one out would tell something about you."

REVIEW = "Review"
ANSWERED = "answered"
FINAL = "Sending is final: you cannot change your answers or take them back."
REVIEW_PROMPT = "Type send, the number of a question to answer it again, show to read your answers, or stop: "
REVIEW_UNKNOWN = "Please type send, a number, show or stop."
YOURS = "Your answers, on this device alone"
SHOWN = "Press Enter to take your answers off the screen: "
NONE = "None"
SENDING = "Mixing in chance and sending …"
STOPPED = "Stopped. No answer was sent, and none is kept."
STOPPED_INVITED = "Stopped. No answer was sent, and none is kept. Please use the same link again, on this device."
STOPPED_INVITED_KIOSK = (
    "Stopped. No answer was sent, and none is kept. This device keeps nothing, so your invitation may not work again."
)
STOPPED_LATE = "Stopped. Your report waits on this device. To send it: deniable answer --resend"
STOPPED_LATE_KIOSK = (
    "Stopped. This device keeps nothing of the report, which may have arrived. Please do not answer again."
)

SENT = "Thank you. Your report has arrived."
SENT_BEFORE = "This device has already answered this survey."
NOT_KEPT = (
    "Your answers were not kept. What was sent has chance mixed in, and nobody is told whether it is your answer."
)
CHANCE = "A sent Yes does not mean that you answered Yes."
CHANCE_OTHER = "What was sent need not be what you answered."
ODDS_EACH = "The odds of each question"
SURVEY = "Survey"
CLIENT = "Sent by"
RESULTS = "Results"
JSON = "Exactly what was sent"
COMPLETION_LINK = "Your way back"
COMPLETION_CODE = "Your code"

WAITING = "Your report has not arrived yet"
WAITING_TEXT = "It waits here. Your answers are forgotten, and every try sends the same report."
AGAIN_AT = (
    "The collector asks this device to wait. It sends the same report again at {time}; you can leave this window open, "
    "or stop with Ctrl-C."
)
TOO_LATE = "Your reply was sent, and the collector refused it. Unless an earlier try arrived, it does not count."
AGAIN = "Press Enter to try again, or type stop: "
NONE_WAITS = "No report waits on this device."

UNREACHABLE = "The survey cannot be loaded"
UNREACHABLE_TEXT = "Nothing was sent."
INCOMPLETE = (
    "The link is incomplete or mistyped at its end. Please use the whole link that you were given; by invitation, each "
    "has a link of their own."
)
CLOSED = "This survey is closed"
CLOSED_NOW = (
    "Whoever runs it takes no more answers. You were not asked anything, and nothing about you was sent. If you wanted "
    "to take part, please ask whoever gave you the link."
)
CLOSED_TEXT = "It took answers until {day} (UTC)."
EARLY = "This survey is not open yet"
EARLY_TEXT = "It takes answers from {day} (UTC) on."
REFUSED = "This device refuses the survey"
REFUSED_TEXT = (
    "It mixes in too little chance, alone or together with other surveys that this device answered within 90 days. "
    "Nothing was sent."
)
NOT_TAKEN = "The collector did not take the report"
ALTERED = "Do not answer this survey"
ALTERED_TEXT = (
    "This device cannot be sure that it is the survey of your link. Nothing was sent. "
    "Please tell who gave you the link."
)
DETAILS = "Details"

TRY_TITLE = "What 100 presses of Send would send; nothing is sent now."
TRY_IF = "If the true answer is {answer}:"
TRY_NOTHING = "no box ticked"
TRY_EVERYTHING = "every box ticked"
TRY_SAME = "the very answer"
TRY_OTHER = "another one"

NO_TERMINAL = (
    "deniable answer: asks a person, and must have a terminal for that; programs use deniable_client.Client. "
    "Only --try and --resend work without one"
)
