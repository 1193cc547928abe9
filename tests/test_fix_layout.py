# ruff: noqa: E501
"""Lines that a fix makes too long are broken as the project's formatter breaks them."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.fix.layout import Shape, broken
from tclint.fix.project_style import style_of

if TYPE_CHECKING:
    from pathlib import Path

STATEMENTS = """\
value = a_function_with_a_long_name(first_argument, second_argument, third_argument, fourth_one, more)
torch._assert_async(torch.isfinite(self.tensor_of_boxes).all(), "Box tensor contains infinite or NaN!")
torch._assert_async((roi_map_scores[keypoints_idx, y_int, x_int] == other_scores.view(num_keypoints, -1).max(1)[0]).all())
image_sizes = [[im[0].trunc().detach().reshape(()), im[1].trunc().detach().reshape(())] for im in im_info]
return first_long_operand_of_the_sum * second_factor_of_it + second_long_operand_of_the_sum * another_factor
return F.scaled_dot_product_attention(query_states, key_states, value_states, scale=1 / math.sqrt(width))
x = torch.where(mask_of_all_positions > 0, value_of_the_first_kind, value_of_the_second_kind).to(dtype)
result = some_object.method_with_long_name(argument_number_one).another_method_of_it(argument_number_two)
self.cache[key_of_the_entry] = compute_the_value_of_the_entry(key_of_the_entry, with_option=True, k=3)
if first_condition_that_is_long and second_condition_that_is_long and third_condition_that_is_long_too:
    pass
total = first_long_operand_of_the_sum + second_long_operand_of_the_sum - third_long_operand_of_the_sum
flag = a_rather_long_name_of_a_variable == another_rather_long_name_of_a_variable_of_the_same_module_x
print(f"the first value is {first_value} and {second_value['k']}, and the last one is {third_value}", x)
scores = {"first_key_of_the_dictionary": first_value_of_it, "second_key_of_the_dictionary": second_value}
call(lambda argument: argument.with_a_method_of_a_long_name(and_one_parameter, and_another_parameter1))
loss = a_function(value_number_one, value_number_two) if condition_for_the_first_function else other_value
assert not_a_message_but_a_call_with_a_long_name(value_number_one, value_number_two, value_number_three)
short = call(
    one,
    two,
)
joined = call(
    one, two
)
call(condition_of_the_check, "the first part of a message that is written in two, " "and its second part is here, so that no row is long enough.")
positions = (
    torch.arange(source_tokens.shape[1], device=source_tokens.device)
    .repeat(source_tokens.shape[0], 1)
)
tokens = (
    torch.zeros(bsz * beam_size, max_len + 2, dtype=source_tokens.dtype, device=source_tokens.device)
    .long()
    .fill_(self.pad)
)
kept = (
    torch.ones(2)
    .long()
)
mask = torch.zeros(bsz, beam_size, max_len + 2, dtype=source_tokens.dtype, device=source_tokens.device).eq(-1)
x = y[index_of_the_first_dimension_of_it, index_of_the_second_dimension_of_it, index_of_the_third_one_of_it]
for step in (range(number_of_steps) if torch.compiler.is_compiling() else tqdm(range(number_of_steps), desc="steps")):
    pass
for first, second in zip(the_first_list_of_the_values, the_second_list_of_the_values, strict=with_the_option):
    pass
for index, (name, value) in enumerate(self.dictionary_of_all_of_the_parameters_by_their_names.items(), number):
    pass
for short in (range(n) if compiling() else tqdm(range(n))):
    pass
if (short and other):
    pass
for step in first_list_of_values_that_is_long_enough + second_list_of_values_that_is_long_enough[first_one:]:
    pass
for values[index_of_the_first_dimension_of_it if one in others else 0] in the_values_of_a_long_name_for_it[first:]:
    pass
"""


def ruff(text: str, length: int) -> str:
    """The text as ruff formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={length}", "-"]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("length", [79, 88, 100])
@pytest.mark.parametrize("depth", [0, 2])
def test_lines_are_broken_like_the_formatter_does(length: int, depth: int) -> None:
    text = "def f():\n" if depth else ""
    text += "    if x:\n" if depth else ""
    indent = "    " * depth
    text += "".join(indent + line + "\n" for line in STATEMENTS.splitlines())
    if not depth:
        text = text.replace("return ", "y = ")
    assert broken(text, "", Shape(length, strict=True)) == ruff(text, length)


def test_lines_that_are_not_new_stay() -> None:
    text = STATEMENTS
    assert broken(text, text, Shape(60, strict=True)) == text


@pytest.mark.parametrize(
    "code",
    [
        "x = call(one,  # a comment\n    two_of_it_with_a_rather_long_name, three_of_it_with_a_long_name)\n",
        "x = call_of_a_long_name(one_of_it_with_a_name, \\\n    two_of_it_with_a_rather_long_name)\n",
        "if x: call_of_a_long_name(one_of_it_with_a_name, two_of_it_with_a_rather_long_name)\n",
        "first = call_of_a_long_name(one_of_it); second = call_of_a_long_name(one_of_it_too)\n",
        'x = call_of_a_long_name(one_of_it, """a\ntext of several rows that is rather long, too long""")\n',
        "a_name_that_is_far_too_long_for_the_line_but_that_cannot_be_broken_anywhere_at_all += 1\n",
    ],
)
def test_what_cannot_be_broken_safely_stays(code: str) -> None:
    assert broken(code, "", Shape(40)) == code


CODE = """\
import torch


class Net(torch.nn.Module):
    def forward(self, boxes_of_the_image: torch.Tensor, scores_of_the_image: torch.Tensor):
        assert (scores_of_the_image > 0).all().item(), "the scores have to be positive"
        scaler = torch.cuda.amp.GradScaler(
            init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000
        )
        other = torch.cuda.amp.GradScaler(
            init_scale=2.0**16,
            growth_factor=2.0,
        )
        if boxes_of_the_image.sum() > 0:
            print("a", boxes_of_the_image.shape, scores_of_the_image.shape, self.training, "end")
        print("b", boxes_of_the_image.shape, scores_of_the_image.shape, self.training, "the end")
        return boxes_of_the_image, scaler, other
"""


@pytest.mark.parametrize(
    "tool",
    [
        "[tool.ruff.format]\n",
        "[tool.black]\n",
        "[tool.ruff]\nline-length = 79\n[tool.ruff.format]\n",
    ],
)
def test_fixed_files_stay_formatted(tmp_path: Path, tool: str) -> None:
    (tmp_path / "pyproject.toml").write_text(tool, encoding="utf-8")
    length = 79 if "79" in tool else 88
    path = tmp_path / "m.py"
    path.write_text(ruff(CODE, length), encoding="utf-8")
    run = fix_files([path], Config(tmp_path), unsafe=True)
    assert len(run.fixes) >= 5
    assert run.changed[0].after == ruff(run.changed[0].after, length)


def test_rows_of_a_call_stay_rows(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(CODE, encoding="utf-8")
    after = fix_files([path], Config(tmp_path), unsafe=True).changed[0].after
    assert (
        'torch.amp.GradScaler(\n            "cuda",\n            init_scale=2.0**16,\n'
        "            growth_factor=2.0,\n        )\n" in after
    )


def test_a_call_around_brackets_of_several_rows_is_laid_out_anew() -> None:
    before = "assert (\n    first_of_all[keys]\n    == second\n).all()\n"
    after = "check((\n    first_of_all[keys]\n    == second\n).all())\n"
    assert broken(after, before, Shape(100)) == "check((first_of_all[keys] == second).all())\n"


CONTINUED = """\
import torch


class Net(torch.nn.Module):
  def forward(self, x: torch.Tensor, y: torch.Tensor, k: int):
    if k and \\
      (x < 0).any():
      raise ValueError("negative",
        x)
    return x
"""


def test_rows_behind_a_backslash_move_with_their_statement(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(CONTINUED, encoding="utf-8")
    after = fix_files([path], Config(tmp_path)).changed[0].after
    assert "    elif k and \\\n      (x < 0).any():\n      raise ValueError(" in after


@pytest.mark.parametrize(
    ("settings", "length"),
    [
        (
            {"pyproject.toml": "[tool.black]\n", "setup.cfg": "[flake8]\nmax-line-length = 127\n"},
            88,
        ),
        ({"pyproject.toml": "[tool.ruff]\nline-length = 120\n[tool.black]\nline-length=99\n"}, 99),
        ({"setup.cfg": "[flake8]\nmax-line-length = 127\n"}, 127),
    ],
)
def test_a_formatter_tells_the_length_of_lines_before_a_linter(
    tmp_path: Path, settings: dict[str, str], length: int
) -> None:
    for name, text in settings.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert style_of(tmp_path / "m.py").line_length == length
