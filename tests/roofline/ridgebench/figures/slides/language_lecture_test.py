"""Figures in Chinese: no word of them stays English, numbers stay, nothing overlaps or is cut, and fonts are named or missing in one line."""

import json
import re
from collections import Counter
from types import SimpleNamespace

import pytest
from command_line import OK, USAGE, ridgebench
from extents import faults, visible_texts
from fontTools.ttLib import TTFont
from golden import ROOT
from matplotlib import font_manager
from matplotlib.text import Text

from ridgebench.base.files import ResultsError
from ridgebench.data.records import commit_of
from ridgebench.figures import plot
from ridgebench.figures.page import language, simplified
from ridgebench.figures.page.drawing import drawing, drawn
from ridgebench.figures.page.style import THEMES
from ridgebench.figures.slides import deck, slides
from ridgebench.figures.slides.all_slides import all_slides

H100, H200 = (next(ROOT.glob(f"results/nvidia-{name}*/2026-11-22-7f6e7b5")) for name in ("h100", "h200"))
CHARACTERISED = next(ROOT.glob("results/nvidia-h200/partial/*-characterise"))
# Units and terms that Chinese texts write in Latin letters.
TERMS = set("""FLOP FLOPs TFLOP GFLOP MFU HFU GB TB MB kB KiB MiB GiB GHz ms us ns fs ps pJ byte token SM FMA DRAM TLB L1 L2 L3 warp TMA ZeRO
    ReLU GeLU Matmul AdamW max Little ridgebench SHA GNU NVIDIA fp8 e4m3 e5m2""".split())
# Names of operations, formats and devices that no record of the figure has.
NAMES = set("""relu gelu dot matvec matmul fp32 tf32 fp16 bf16 int8 copy triad read write H100 H200 B200 SXM SXM5 HBM3 HBM3e nvlink4 ethernet
    llama""".split())
# Texts of a record stay English: reasons, with the names of rows.
RECORDED = re.compile(r"(?:enqueue|RIDGEBENCH_UNGATED|/pinned|runs kernels|launches took)")
WORD = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9_]+")
NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
pytestmark = pytest.mark.skipif(not language.has_chinese_font(), reason="no font with Chinese characters; fonts-noto-cjk has one")


def strings(value) -> list[str]:
    """The texts of a record that are names: values without a space, and models of devices."""
    if isinstance(value, dict):
        return [str(value.get("model", ""))] + [name for item in value.values() for name in strings(item)]
    if isinstance(value, list):
        return [name for item in value for name in strings(item)]
    return [value] if isinstance(value, str) and " " not in value else []


def names_of(folder) -> set[str]:
    """The words of what a run or a step calls by name: rows, formats, devices, its provenance."""
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text("utf-8").splitlines()]
    environment = json.loads((folder / "environment.json").read_text("utf-8"))
    found = strings([environment, *map(json.loads, lines)]) + [commit_of(environment, 12)]
    return set(WORD.findall(" ".join(found).replace("_", " "))) | set(WORD.findall(" ".join(found)))


def told(arguments: list[str], theme: str = "light"):
    """Each figure of a call of plot by its name, in Chinese, with the English of its texts."""
    with language.speaking("zh"):
        options = plot.parse(arguments)
        for name, draw in plot.drawn_figures(options).items():
            with drawing(THEMES[theme]):
                figure = draw(THEMES[theme])
                before = {id(text): text.get_text() for text in figure.findobj(Text)}
                figure.draw_without_rendering()
            yield name, figure, before


def english_words(text: str, names: set[str]) -> list[str]:
    known = TERMS | NAMES | names
    return [] if RECORDED.search(text) else [word for word in WORD.findall(text) if word not in known and not text.endswith("…")]


def problems(figure, before: dict[int, str], names: set[str], least: float) -> list[str]:
    found = [f"{word}: {text.get_text()}" for text in visible_texts(figure) for word in english_words(text.get_text(), names)]
    for text in visible_texts(figure):
        one, other = (Counter(NUMBER.findall(part)) for part in (before.get(id(text), ""), text.get_text()))
        if id(text) in before and one and one != other:
            found.append(f"{before[id(text)]} -> {text.get_text()}")
    # The box of a slanted text is larger than the text, and Matplotlib keeps numbers beyond the ends of an axis.
    upright = [text for text in visible_texts(figure) if text.get_rotation() in (0, 90) and re.search(r"[^\d.,e+−-]", text.get_text())]
    return found + faults(figure, upright, least)


@pytest.mark.parametrize("folder", [H100, H200, CHARACTERISED], ids=["H100", "H200", "characterise"])
def test_the_figures_of_published_runs_are_chinese_and_whole(folder):
    names = names_of(folder)
    drawn_names = []
    for name, figure, before in told([str(folder)]):
        drawn_names.append(name)
        assert not problems(figure, before, names, 9.0), name
    assert len(drawn_names) >= 4


def test_the_figures_of_two_runs_and_of_data_sheets_are_chinese():
    names = names_of(H100) | names_of(H200)
    for arguments in ([str(H100), str(H200), "--formats", "bf16"], ["--on", "h100-sxm", "--on", "h200"], ["--on", "h100-sxm", "--paper"]):
        for name, figure, before in told(arguments, "dark"):
            assert not problems(figure, before, names, 7.0 if "--paper" in arguments else 9.0), name


def test_the_figures_of_a_step_are_chinese(tmp_path):
    done = ridgebench("step", "train", "--layers", "3", "--width", "64", "--batch", "16", "--device", "cpu", "--seconds", "0.05",
                      "--out", tmp_path / "step")
    assert done.returncode == OK, done.stderr
    words = {"step", "forward", "backward", "parameters", "gradients", "activations", "optimizer", "attention", "network", "input", "output"}
    names = names_of(tmp_path / "step") - words
    for name, figure, before in told([str(tmp_path / "step")], "print"):
        texts = [text.get_text() for text in visible_texts(figure)]
        assert not problems(figure, before, names, 9.0), name
        assert any(language.in_chinese(text) for text in texts)


def test_a_word_that_the_catalogue_lacks_is_found(monkeypatch, tmp_path):
    short = tmp_path / "short.po"
    entries = language.CATALOGUE.read_text("utf-8").split("\n\n")
    short.write_text("\n\n".join(entry for entry in entries if not entry.startswith('msgid "memory-bound"')), "utf-8")
    monkeypatch.setattr(language, "CATALOGUE", short)
    found = [one for _, figure, before in told(["--on", "h100-sxm"]) for one in problems(figure, before, set(), 9.0)]
    assert found == ["memory-bound: memory-bound"] or set(found) == {"memory: memory-bound", "bound: memory-bound"}


def test_the_slides_are_chinese_and_whole():
    names = names_of(H200)
    for arguments in (["--on", "h100-sxm"], [str(H200), "--on", "b200"]):
        with language.speaking("zh"):
            of = slides.deck_of(slides.parse(arguments))
            for slide in all_slides(of):
                with drawing(THEMES["light"]):
                    figure = deck.draw(slide, of, THEMES["light"])
                    before = {id(text): text.get_text() for text in figure.findobj(Text)}
                    figure.draw_without_rendering()
                assert not problems(figure, before, names, 18.0), slide.slug
                assert not any(text.get_text().endswith("…") for text in visible_texts(figure)), slide.slug
                for told_ in map(language.said, (slide.title, slide.say, *slide.numbers)):
                    assert not english_words(told_, names), told_


def test_a_deck_is_chinese_and_its_notes_too(tmp_path):
    page, folder = tmp_path / "deck.html", tmp_path / "slides"
    assert ridgebench("slides", "--on", "h100-sxm", "--lang", "zh", "--theme", "light", "-o", page).returncode == OK
    html = page.read_text("utf-8")
    assert '<html lang="zh">' in html and "<h2>ReLU 等待内存</h2>" in html and "<summary>备注</summary>" in html
    assert "'Slides CJK'" in html and len(html) < 4e6
    headings = re.findall(r"<h2>([^<]*)</h2>", html)
    assert len(headings) > 20 and all(map(language.in_chinese, headings))
    assert ridgebench("slides", "--on", "h100-sxm", "--lang", "zh", "--out", folder).returncode == OK
    assert "# 讲者备注" in (folder / "notes.md").read_text("utf-8")


@pytest.mark.parametrize("english, chinese", [
    ("ReLU, GeLU, dot and matvec wait for memory, matmul is compute-bound above n = 886", "ReLU、GeLU、dot 和 matvec 等待内存，matmul 在 n = 886 以上计算受限"),
    ("The bf16 tensor roof drifted during the run: its control moved by 3 %", "测量期间 bf16 张量核心屋顶发生漂移：其对照变化了 3 %"),
    ("Ridge 295", "脊点 295"),
    ("wgmma_tuned is 12 times as fast as naive", "wgmma_tuned 的速度是 naive 的 12 倍"),
    ("NVIDIA H200 (cuda:0) · 2026-11-22 · method 1", "NVIDIA H200 (cuda:0) · 2026-11-22 · 方法 1"),
    ("gelu, dot: 64.3 TFLOP/s", "gelu、dot：64.3 TFLOP/s"),
    ("measured: 841 TFLOP/s, 3.08 TB/s (triad)", "实测：841 TFLOP/s、3.08 TB/s (triad)"),
    ("measured: the device was lost, and nothing came back", "实测：the device was lost, and nothing came back"),  # a record's sentence
    ("bf16 at the memory roof: ReLU, GeLU (all but fp8_e4m3, fp8_e5m2), dot", "bf16 到达内存屋顶：ReLU、GeLU（除 fp8_e4m3、fp8_e5m2 外）、dot"),
    ("Each step adds one idea to matmul at n = 8192. 100 % is cublas, 732 TFLOP/s. --budget cut samples, so that the shares carry no claim.",
     "每一步给 n = 8192 的 matmul 增加一个想法。100 % 是 cublas，732 TFLOP/s。--budget 截短了采样，因此比例不作结论。"),
    ("1e-8 in bf16", "bf16 的 1e-8"),
    ("A FLOP takes 0.444 pJ in fp8_e5m2, 0.823 pJ in bf16 and 2.1 pJ in fp32", "每 FLOP 耗能 fp8_e5m2 为 0.444 pJ、bf16 为 0.823 pJ 和 fp32 为 2.1 pJ"),
    ("At 700 W the clock pays: 1.98 GHz in bf16 ReLU, 1.22 GHz in fp8_e4m3 matmul",
     "在 700 W 时时钟频率让步：bf16 ReLU 为 1.98 GHz、fp8_e4m3 matmul 为 1.22 GHz"),
    ("The clock pays for power: 1.98 GHz at 300 W in bf16 ReLU, 1.22 GHz at 700 W in bf16 matmul",
     "时钟频率为功耗让步：bf16 ReLU 为 1.98 GHz（300 W）、bf16 matmul 为 1.22 GHz（700 W）"),
    ("A load that waits for the load before it takes 16.2 ns in level 1, 130 ns in level 2 and 600 ns in main memory",
     "等待前一次加载的加载用时：L1 缓存为 16.2 ns、L2 缓存为 130 ns 和主存为 600 ns"),
    ("† raised a roof above its ceiling: matmul by 2.1 % (wgmma/bf16), relu by 1.2 % (vec16/fp32)",
     "† 把屋顶抬到其上限测量之上：matmul 高出 2.1 %（wgmma/bf16）、relu 高出 1.2 %（vec16/fp32）"),
    ("Copies to the device reach 55 GB/s, 86 % of pcie5x16 in both directions", "拷贝到设备达到 55 GB/s，为 pcie5x16 双向的 86 %"),
    ("Reads bring 5.1 TB/s from level 2 and 3.2 TB/s from main memory", "读带宽：L2 缓存 5.1 TB/s 和主存 3.2 TB/s"),
    ("Matmul errs by 2⁻¹⁶ of a typical output in fp32 and 2⁻⁸ in bf16", "Matmul 的误差：fp32 为典型输出的 2⁻¹⁶和 bf16 的 2⁻⁸"),
    ("Where memory limits, B is 1.2 to 1.5 times as fast and C is 68 times slower (best verified rows, against A)",
     "访存受限时，B 的速度是 1.2 至 1.5 倍和 C 慢 68 倍（最好的已验证行，与 A 相比）"),
    ("fp32 matmul reaches 92 % of this machine's FMA roof and bf16 matmul 34 % of its tensor roof",
     "fp32 matmul 达到本机 FMA 屋顶的 92 %，bf16 matmul 达到其张量核心屋顶的 34 %"),
    ("16.2 ns in level 1", "L1 缓存为 16.2 ns"),
    ("1.98 GHz in ReLU", "ReLU 为 1.98 GHz"),
    ("naive, n 536870912", "naive, n 536870912"),
    ("out of memory", "out of memory"),
    ("a kernel of one's own", "a kernel of one's own"),
    ("", ""),
])
def test_a_template_takes_its_fields(english, chinese):
    with language.speaking("zh"):
        assert language.said(english) == chinese
        assert language.said(chinese) == chinese
    assert language.said(english) == english


def test_the_catalogue_is_chinese_and_has_each_field():
    assert len(language.catalogue(language.CATALOGUE)) > 500
    for english, answer in language.catalogue(language.CATALOGUE).items():
        fields = [sorted(re.findall(r"\{(\w+)", text)) for text in (english, answer)]
        assert fields[0] == fields[1], english
        assert language.in_chinese(re.sub(r"\{.*?\}", "", answer)) or not re.search("[a-z]{3}", re.sub(r"\{.*?\}", "", answer)), english
        assert not re.search("[\u4e00-\u9fff][,;:]", answer), answer
        numbers = [Counter(NUMBER.findall(re.sub(r"\{.*?\}", "", text))) for text in (english, answer)]
        assert numbers[0] == numbers[1] or "powers of ten" in english or "level" in english or "cut off" in english, english


def test_an_svg_names_fonts_of_other_machines_and_has_text():
    for _, figure, _ in told(["--on", "h100-sxm"]):
        with language.speaking("zh"), drawing(THEMES["light"]):
            svg = drawn(figure, "svg").decode("utf-8")
        assert "'Noto Sans CJK SC'" in svg and "Microsoft YaHei" in svg and "访存受限" in svg
        style = re.findall(r'style="font: ([^"]*)"', svg)
        assert style and all("DejaVu Sans" in one for one in style)


@pytest.mark.parametrize("weight", ["regular", "bold"])
def test_characters_have_their_simplified_forms(weight):
    """The first face of a file of Noto Sans CJK, which Matplotlib reads, draws 直 and 骨 as Japanese does."""
    several = [font.fname for font in font_manager.fontManager.ttflist if font.name == "Noto Sans CJK JP" and font.fname.endswith(".ttc")]
    if not several:
        pytest.skip("no file of Noto Sans CJK with several faces")
    used = TTFont(font_manager.findfont(font_manager.FontProperties(family=language.chinese_family(), weight=weight)))
    japanese = TTFont(several[0], fontNumber=0)
    for character in "直骨":
        assert used.getBestCmap()[ord(character)] != japanese.getBestCmap()[ord(character)], character
    assert used.getBestCmap()[ord("一")] == japanese.getBestCmap()[ord("一")], "most characters have one form"


def test_without_room_for_a_copy_the_first_face_serves(monkeypatch, tmp_path):
    monkeypatch.setattr(simplified.matplotlib, "get_cachedir", lambda: str(tmp_path / "none"))
    fonts = SimpleNamespace(ttflist=[one for one in font_manager.fontManager.ttflist if one.name != simplified.FAMILY])
    monkeypatch.setattr(simplified.font_manager, "fontManager", fonts)
    simplified.add()
    assert all(one.name != simplified.FAMILY for one in fonts.ttflist)


def test_a_pdf_has_its_characters_as_outlines():
    """As TrueType, the fonts of Noto Sans CJK would be broken."""
    for _, figure, _ in told(["--on", "h100-sxm"]):
        with language.speaking("zh"), drawing(THEMES["light"]):
            pdf = drawn(figure, "pdf")
        assert b"/Type3" in pdf and b"/FontFile2" not in pdf


def test_a_machine_without_a_font_gets_one_line(monkeypatch, tmp_path, capfd):
    language.chinese_family.cache_clear()
    monkeypatch.setattr(language, "CHINESE_FAMILIES", ("No Such Font",))
    try:
        assert plot.main(["--on", "h100-sxm", "--lang", "zh", "--out", str(tmp_path)]) == USAGE
    finally:
        language.chinese_family.cache_clear()
    error = capfd.readouterr().err
    assert error.count("\n") == 1 and "fonts-noto-cjk" in error and "--lang en" in error
    assert not list(tmp_path.iterdir())


def test_an_old_matplotlib_is_refused(monkeypatch):
    language.chinese_family.cache_clear()
    monkeypatch.setattr(language.matplotlib, "__version__", "3.5.1")
    with pytest.raises(ResultsError, match="3.6 or newer"), language.speaking("zh"):
        pass
    language.chinese_family.cache_clear()


@pytest.mark.parametrize("command", ["plot", "slides"])
def test_an_unknown_language_is_refused(command):
    done = ridgebench(command, "--on", "h100-sxm", "--lang", "klingon")
    assert done.returncode == USAGE
    assert done.stderr.count("\n") == 1 and "'en'" in done.stderr and "'zh'" in done.stderr
