"""Images are PNG files of the given size, and stand where each API expects them."""

from __future__ import annotations

import base64
import io

import pytest
from PIL import Image

from planned import URL, filled, group_of, requests_of
from torr.planning.apis.images import MOST_DIFFERENT, ImageSize, images_of

URL_OF_IMAGE = "data:image/png;base64,row.image_1"
PARTS = {
    "openai": {"type": "image_url", "image_url": {"url": URL_OF_IMAGE}},
    "responses": {"type": "input_image", "image_url": URL_OF_IMAGE},
    "anthropic": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": "row.image_1"},
    },
}


def test_an_image_has_its_size_and_random_pixels():
    ((text,),) = images_of((ImageSize(20, 10),), 1, 1)
    image = Image.open(io.BytesIO(base64.b64decode(text)))
    image.load()
    assert (image.format, image.mode, image.size) == ("PNG", "RGB", (20, 10))
    assert len(image.getcolors(maxcolors=1_000) or ()) > 150


def test_images_follow_the_seed_and_repeat_after_the_most():
    sizes = (ImageSize(2, 2), ImageSize(3, 1))
    found = images_of(sizes, MOST_DIFFERENT + 1, 1)
    assert found == images_of(sizes, MOST_DIFFERENT + 1, 1) != images_of(sizes, 65, 2)
    assert len(set(found)) == MOST_DIFFERENT
    assert found[0] == found[MOST_DIFFERENT]


@pytest.mark.parametrize("api", PARTS)
def test_images_stand_before_the_text_of_the_first_prompt(torr, fake, api):
    words = ("--model", "m", "--prompt", "p", "--image", "4x2", "--turns", "2")
    ended = torr("run", "--chat", api, *words, URL)
    assert ended.code == 0, ended.err
    body = filled(requests_of(fake)[1])
    first, _, last = body["input" if api == "responses" else "messages"]
    image, text = first["content"]
    assert image == PARTS[api]
    assert text == {
        "type": "input_text" if api == "responses" else "text",
        "text": "row.prompt_1",
    }
    assert last["content"] == "row.prompt_2"
    assert group_of(fake)["data"]["columns"] == ["prompt_1", "prompt_2", "image_1"]


@pytest.mark.parametrize("size", ["4", "0x2", "4x9000", "axb"])
def test_what_is_no_size_is_refused(torr, fake, size):
    ended = torr("run", "--chat", "openai", "--model", "m", "--prompt", "p", "--image", size, URL)
    assert (ended.code, fake.loads) == (2, [])
    assert "is not a size of an image" in ended.err


def test_more_images_than_fit_are_refused(torr, fake, tmp_path):
    (tmp_path / "p.jsonl").write_text('"a"\n' * 200)
    words = ("--model", "m", "--prompts", "p.jsonl", "--image", "1024x1024")
    ended = torr("run", "--chat", "openai", *words, URL)
    assert (ended.code, fake.loads) == (2, [])
    assert "use fewer prompts" in ended.err
