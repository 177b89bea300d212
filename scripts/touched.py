"""Which tests belong to what was changed: for `make check`, between two edits.

The table says of each room (a folder of src/) which black-box tests are about it. A room that everything uses has a few
tests that go through the whole program. scripts/check_source.py (the rule "rooms") wants every room and every black-box
test in the table, so that a new one is not forgotten.
"""

import os
import subprocess

import stages

ROOT = stages.ROOT
MOST_FILES = 8  # so that it takes a minute; make test runs the rest

# tests/blackbox/test_NAME.py for each room, the most telling first.
ROOMS = {
    "answer": "search_web answer_contract answer_models kept_answers search_fakes",
    "app": "protocol_stdio skills apps rest",
    "browser": "browser rendering trust ssrf",
    "call": "shares errors protocol_stdio rest progress stuck cancel",
    "cli": "cli terminal dashboard offer completions interrupts",
    "config": "cli trust forms profile",
    "core": "log log_lines clocks protocol_stdio rest secrets surroundings",
    "db": "data_folder bad_disks stuck old_data usage storage postgres hostile_postgres records_postgres pooler memory_failover",
    "doctor": "doctor health",
    "server": "protocol_http protocol_stdio hostile_http hostile_stdio hostile_connections connections bodies exports unread proxy",
    "documents": "documents pdf hostile_documents confined",
    "evidence": "own_research research",
    "experiment": "experiments experiment_statistics",
    "guard": "callers sessions limits books pacing ssrf origins",
    "jobs": "jobs tasks follow_ups own_research research usage",
    "html": "faithful_markdown omitted get_content page_words encodings generators reviews quality",
    "index": "memory memory_building memory_scripts memory_shares memory_parity memory_notes memory_model memory_index_files memory_damage memory_meaning memory_vectors",
    "meaning": "model doctor memory_meaning",
    "loaders": "loaders threads youtube get_content",
    "mcp": "protocol_stdio protocol_http skills apps profile forms cancel",
    "memory": "memory memory_overview memory_building memory_meaning openapi memory_shares data_folder memory_doors memory_care memory_versions memory_parity memory_scripts "
    "memory_callers "
    "memory_files clocks memory_servers memory_failover memory_rounds memory_moves memory_crash memory_crash_postgresql memory_model memory_index_files memory_damage memory_vectors old_data",
    "model": "models books model_faults model_fakes doctor",
    "net": "names way_out log_lines hostile_answers descriptors get_content ssrf trust",
    "ops": "usage books overview limits pacing clocks data_folder bad_disks kept_answers old_data records_postgres crash",
    "proc": "children confined research loaders shutdown",
    "reader": "get_content page_parts focus several_pages page_words page_cache",
    "registry": "tool_list rest openapi protocol_stdio forms log_lines",
    "research": "children research research_settings research_failures research_end own_research",
    "rest": "rest every_route origins sessions dashboard overview openapi",
    "setup": "setup links offer client_pages old_data",
    "source": "page_cache get_content ssrf",
    "text": "get_content page_parts cli",
    "tools": "tool_list profile tool_choice openapi rest protocol_stdio cli",
    "websearch": "web_search open_search web_search_parameters web_search_pages search_fakes pacing sources_code sources_news "
    "sources_papers sources_web",
    "world": "web_search_parameters search_web tables",
}

def git(*arguments):
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.split("\n") if result.returncode == 0 else []


def changed_files():
    """What differs from where this branch left origin/main, or from HEAD where there is none; new files count."""
    base = [line for line in git("merge-base", "HEAD", "origin/main") if line] or ["HEAD"]
    paths = [*git("diff", "--name-only", base[0]), *git("ls-files", "-o", "--exclude-standard")]
    return sorted({path for path in paths if path and os.path.isfile(os.path.join(ROOT, path))})


def rooms_of(changed):
    return {path.split("/")[1] for path in changed if path.startswith("src/") and path.count("/") > 1}


def unit_rooms(changed):
    """The rooms whose unit tests make check runs, as tests/meson.build names them; none: all, as what all share changed."""
    with open(os.path.join(ROOT, "tests", "meson.build"), encoding="utf-8") as file:
        text = file.read()
    tests = text[text.index("unit_tests = {") : text.index("}", text.index("unit_tests = {"))]
    room_of, room = {}, ""
    for line in tests.split("\n"):
        word = line.strip(" ',[]:")
        if line.endswith("': ["):
            room = word
        elif word:
            room_of[word] = room
    rooms = rooms_of(changed) & set(room_of.values())
    for path in changed:
        if path.startswith("tests/unit/"):
            name = os.path.basename(path)[len("test_") : -len(".c")]
            if name not in room_of:
                return []
            rooms.add(room_of[name])
    return sorted(rooms)


def blackbox_tests(changed):
    """The black-box tests of the rooms that were touched, those of most rooms first; a changed one comes before all."""
    weight = {}
    slow = {name for name, words in stages.read_plan() if "slow" in words}
    for path in changed:
        folder, _, name = path.rpartition("/")
        if folder == "tests/blackbox" and name.startswith("test_"):
            weight[name[len("test_") : -len(".py")]] = 1000
    for room in rooms_of(changed):
        for place, name in enumerate(ROOMS.get(room, "").split()):
            if name not in slow:
                weight[name] = weight.get(name, 0) + 10 - place
    names = sorted(weight, key=lambda name: (-weight[name], name))[:MOST_FILES]
    return [f"tests/blackbox/test_{name}.py" for name in names]
