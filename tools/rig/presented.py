"""Surveys with everything around their questions, and documents in which it is wrong, for vectors and tests."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

from deniable import Survey, read_survey
from deniable.survey.completion import Completion
from deniable.survey.look import Logo, Look
from deniable.survey.texts import Text
from tools.rig.survey_files import question_toml, survey_toml


def presented_surveys(survey: Survey) -> list[Survey]:
    """The survey with everything around its questions, in several forms."""
    several = {"de": "Fragen an ethik@uni.example", "fr": "Questions \u00e0 ethique@uni.example"}
    accents = Look("#0b5d82", "#4885a1")
    return [
        replace(
            survey, title="Contact, page and thanks", contact="ethics@uni.example", layout="page", thanks="Ta.\n\nBye"
        ),
        replace(
            survey,
            title="Texts in several languages",
            contact=Text("Ask ethics@uni.example", several),
            thanks=Text("Thanks", {"de": "Danke"}),
            completion=Completion(Text("Go back", {"de": "Zur\u00fcck"}), "https://panel.example"),
            look=replace(accents, logo=Logo(image_bytes("png"), Text("Institute", {"de": "Institut"}))),
        ),
        replace(survey, title="Sample", sample="A random sample of 900 students"),
        replace(survey, title="Sample in two languages", sample=Text("All staff", {"de": "Alle Angestellten"})),
        replace(survey, title="Licence", license="CC-BY-4.0"),
        replace(survey, title="Licence in words", license=Text("For teaching", {"de": "F\u00fcr die Lehre"})),
        *(
            replace(survey, title=f"Completion {number}", completion=completion)
            for number, completion in enumerate(
                (
                    Completion(link="https://app.prolific.com/submissions/complete?cc=C1A2B3"),
                    Completion(link="https://panel.example:8443/done/{code}?x=%20#end", code="a-B_9"),
                    Completion(link="https://[2001:db8::1]/?c={code}", code_length=6),
                    Completion("Type it in.", code="x" * 64),
                    Completion("t" * 1000, code_length=20),
                    Completion(link="https://127.0.0.1/" + "a" * 482),
                    Completion(link="https://panel.example/a", code_length=12),
                )
            )
        ),
        replace(survey, title="Look: accent alone", look=accents),
        *(
            replace(survey, title=f"Look: {kind} of {width} x {height}", look=Look(logo=Logo(image, "Logo")))
            for kind in IMAGES
            for width, height in ((1, 1000), (1000, 1), (300, 258))
            for image in [image_bytes(kind, width, height)]
        ),
        replace(
            survey, title="Look: largest file", look=Look(logo=Logo(image_bytes("png").ljust(20_000, b"\0"), "Logo"))
        ),
    ]


IMAGES = ("png", "lossy webp", "lossless webp", "extended webp")


def image_bytes(kind: str, width: int = 16, height: int = 9) -> bytes:
    """The head of an image, which is all that devices look at."""
    head = b"RIFF\x20\0\0\0WEBP"
    match kind:
        case "png":
            return (
                b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"
                + width.to_bytes(4, "big")
                + height.to_bytes(4, "big")
                + b"\x08\6\0\0\0"
            )
        case "lossy webp":
            sizes = width.to_bytes(2, "little") + (height | 2**14).to_bytes(2, "little")
            return head + b"VP8 \x14\0\0\0\x30\1\0\x9d\x01\x2a" + sizes + b"\0\0\0\0"
        case "lossless webp":
            return (
                head + b"VP8L\x14\0\0\0/" + (width - 1 | (height - 1) << 14 | 1 << 28).to_bytes(4, "little") + b"\7" * 8
            )
    return head + b"VP8X\x0a\0\0\0\x10\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")


def badly_presented(plain: str) -> dict[str, str]:
    """Published surveys whose contact, layout, thanks, completion or look no device takes."""

    def with_keys(**keys: Any) -> str:
        # Sorted like the document itself, so that a key alone is what is wrong.
        return json.dumps(json.loads(plain) | keys, sort_keys=True, separators=(",", ":"))

    def logo(data: Any, type_: Any = "image/png", **more: Any) -> dict[str, Any]:
        text = base64.b64encode(data).decode() if isinstance(data, bytes) else data
        return {"logo": {"data": text, "type": type_}, "logo_text": "Logo"} | more

    png, webp = image_bytes("png"), image_bytes("extended webp")
    encoded = base64.b64encode(png).decode()
    links = {
        "by http": "http://panel.example/",
        "by another scheme": "javascript://panel.example/%0aalert(1)",
        "without a host": "https:///done",
        "without slashes": "https:panel.example",
        "with a user": "https://me@panel.example/",
        "with a user and a password": "https://me:secret@panel.example/",
        "with a capital in its host": "https://Panel.example/",
        "with a code in its host": "https://{code}.panel.example/",
        "with a code for a port": "https://panel.example:{code}/",
        "with another placeholder": "https://panel.example/{id}",
        "with a placeholder of a panel": "https://panel.example/?id={{%PROLIFIC_PID%}}",
        "with a code twice": "https://panel.example/{code}/{code}",
        "with half a placeholder": "https://panel.example/{code",
        "with a space": "https://panel.example/a b",
        "with a line break": "https://panel.example/\n",
        "with a backslash": "https://panel.example\\@evil.example/",
        "with a backslash behind the host": "https://panel.example/\\evil",
        "with a quote": 'https://panel.example/"',
        "with a letter beyond ASCII": "https://panel.example/\u00e9",
        "with a percent sign alone": "https://panel.example/100%",
        "with a host that there cannot be": "https://panel..example/",
        "with a number for a host": "https://1234/",
        "with a port that there cannot be": "https://panel.example:65536/",
        "with a port 0": "https://panel.example:0/",
        "too long": "https://panel.example/" + "a" * 479,
        "empty": "",
        "a list": ["https://panel.example/"],
        "a number": 7,
        "null": None,
        "in two languages": {"de": "https://panel.example/de", "default": "https://panel.example/"},
    }
    completions = {
        "without anything": {},
        "of a text alone": {"text": "Go back"},
        "a text": "https://panel.example/",
        "a list": ["https://panel.example/"],
        "with another key": {"code": "c", "id": "7"},
        "with an empty text": {"code": "c", "text": ""},
        "with a text too long": {"code": "c", "text": "t" * 1001},
        "with both codes": {"code": "c", "code_length": 8},
        "with an empty code": {"code": ""},
        "with a code too long": {"code": "x" * 65},
        "with a space in its code": {"code": "a b"},
        "with a line break behind its code": {"code": "ab\n"},
        "with a letter beyond ASCII in its code": {"code": "\u00e9"},
        "with a number for a code": {"code": 123456},
        "with a code null": {"code": None, "link": "https://panel.example/"},
        "with a code too short": {"code_length": 5},
        "with a code of 21": {"code_length": 21},
        "with a length true": {"code_length": True},
        "with a length a text": {"code_length": "8"},
        "with a length null": {"code_length": None, "link": "https://panel.example/"},
        "with a fraction for a length": {"code_length": 8.5},
        "with a length of 8.0": {"code_length": 8.0},
        "with a placeholder without a code": {"link": "https://panel.example/{code}"},
    }
    colours = {"accent": "#0b5d82", "accent_dark": "#4885a1"}
    looks = {
        "without anything": {},
        "a list": [],
        "a text": "#0b5d82",
        "with another key": colours | {"font": "serif"},
        "of an accent alone": {"accent": "#0b5d82"},
        "of a dark accent alone": {"accent_dark": "#4885a1"},
        "with an accent in capitals": colours | {"accent": "#0B5D82"},
        "with an accent of three digits": colours | {"accent": "#05d"},
        "with an accent by name": colours | {"accent": "navy"},
        "with a function for an accent": colours | {"accent": "url(x)"},
        "with a line break behind an accent": colours | {"accent_dark": "#4885a1\n"},
        "with an accent null": colours | {"accent": None},
        "with a number for an accent": colours | {"accent": 0},
        "with a logo without a text": {"logo": logo(png)["logo"]},
        "with a text without a logo": {"logo_text": "Logo"},
        "with an empty text of a logo": logo(png, logo_text=" "),
        "with a text of a logo too long": logo(png, logo_text="t" * 201),
        "with a logo a text": {"logo": encoded, "logo_text": "Logo"},
        "with a logo null": colours | {"logo": None},
        "with a logo without a type": {"logo": {"data": encoded}, "logo_text": "Logo"},
        "with a logo without data": {"logo": {"type": "image/png"}, "logo_text": "Logo"},
        "with a logo of another key": {"logo": logo(png)["logo"] | {"alt": "Logo"}, "logo_text": "Logo"},
        "with a logo of another type": logo(png, "image/webp"),
        "with WebP for PNG": logo(webp),
        "with a drawing for a logo": logo(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        "with a drawing that is called PNG": logo(b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        "with a type null": logo(png, None),
        "with a list for a type": logo(png, ["image/png"]),
        "with a list for data": logo([encoded]),
        "with a number for data": logo(1234),
        "with empty data": logo(""),
        "with data without padding": logo(encoded.rstrip("=")),
        "with a space in its data": logo(encoded[:4] + " " + encoded[4:]),
        "with a line break behind its data": logo(encoded + "\n"),
        "with bits in its padding": logo(base64.b64encode(png + b"\0\0").decode().replace("AA==", "AB==")),
        "with data in the alphabet of URLs": logo(base64.urlsafe_b64encode(png + b"\xff\xff\xff\xff").decode()),
        "with letters beyond ASCII in its data": logo("\u00e9\u00e9\u00e9\u00e9"),
        "with a file too large": logo(png.ljust(20_001, b"\0")),
        "with a cut head of PNG": logo(png[:23]),
        "with a cut head of WebP": logo(webp[:29], "image/webp"),
        "with another start of lossless WebP": logo(image_bytes("lossless webp").replace(b"/", b"."), "image/webp"),
        "with another start of lossy WebP": logo(image_bytes("lossy webp").replace(b"\x9d", b"\x9e"), "image/webp"),
        "with another kind of WebP": logo(webp.replace(b"VP8X", b"VP8Y"), "image/webp"),
        **{
            f"with {kind} of {width} x {height}": logo(image_bytes(kind, width, height), f"image/{kind[-4:].strip()}")
            for kind in IMAGES
            for width, height in ((1001, 1), (1, 1001), *(((0, 1), (1, 0)) if kind in ("png", "lossy webp") else ()))
        },
        "with PNG of 2 ** 32 - 1": logo(image_bytes("png", 2**32 - 1, 1)),
    }
    return {
        "empty contact": with_keys(contact=""),
        "contact too long": with_keys(contact="c" * 201),
        "contact a number": with_keys(contact=1),
        "contact null": with_keys(contact=None),
        "contact with a control character": with_keys(contact="a\tb"),
        "layout that needs no key": with_keys(layout="steps"),
        "unknown layout": with_keys(layout="cards"),
        "layout a list": with_keys(layout=["page"]),
        "layout null": with_keys(layout=None),
        "thanks too long": with_keys(thanks="t" * 4001),
        "blank thanks": with_keys(thanks="\n"),
        "sample too long": with_keys(sample="s" * 201),
        "empty sample": with_keys(sample=""),
        "licence too long": with_keys(license="l" * 201),
        "empty licence": with_keys(license=""),
        "licence of a list": with_keys(license=["CC-BY-4.0"]),
        "thanks in one language": with_keys(thanks={"default": "Thanks"}),
        "completion null": with_keys(completion=None),
        "look null": with_keys(look=None),
        "contact behind its place": plain.replace('"questions"', '"contact":"me","questions"'),
        **{f"completion {name}": with_keys(completion=value) for name, value in completions.items()},
        **{
            f"completion with a link {name}": with_keys(completion={"code": "c", "link": value})
            for name, value in links.items()
        },
        **{f"look {name}": with_keys(look=value) for name, value in looks.items()},
    }


def helped_survey() -> Survey:
    """A survey whose questions have help, and a unit."""
    affair = question_toml(
        "affair", "yes-no", "Any?", epsilon=1, help={"default": "Each counts.", "de": "Jede z\u00e4hlt."}
    )
    drinks = question_toml("drinks", "number", "How many?", lo=0, hi=60, epsilon=1, unit="glasses")
    return read_survey(survey_toml("Help and unit", affair, drinks, closes_at=2000))
