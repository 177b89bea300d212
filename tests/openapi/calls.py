"""What a user of the generated Python client writes: calls.py URL TOKEN PAGE. Says what it called, one name a line."""

import sys
from io import BytesIO

from forage_client import AuthenticatedClient, Client
from forage_client.api.memories import (
    delete_memory,
    export_memories,
    get_memory,
    import_memories,
    list_memories,
    put_memory,
    search_memories,
    search_memory_words,
    update_memory,
)
from forage_client.api.memory import memory_rename
from forage_client.api.records import get_usage
from forage_client.api.research import deep_search, end_job, get_job, list_jobs
from forage_client.api.server import forage_status
from forage_client.api.web import get_content, web_search
from forage_client.models import (
    DeepSearchArguments,
    Failure,
    ForageStatusArguments,
    ForageStatusResult,
    GetContentArguments,
    GetContentResult,
    Imported,
    Job,
    JobEnded,
    JobHandle,
    Jobs,
    MemoryAddResult,
    MemoryDeleteResult,
    MemoryFulltextSearchResult,
    MemoryGetResult,
    MemoryListResult,
    MemoryRenameArguments,
    MemoryRenameResult,
    MemorySearchResult,
    MemoryUpdateResult,
    PutMemoryBody,
    UpdateMemoryBody,
    Usage,
    WebSearchArguments,
    WebSearchResult,
)
from forage_client.types import File

URL, TOKEN, PAGE = sys.argv[1:]
client = AuthenticatedClient(base_url=URL, token=TOKEN)


def expect(name, kind, answer):
    """The answer, which must be of that kind."""
    assert isinstance(answer, kind), f"{name}: {answer}"
    print(name)
    return answer


status = expect("forage_status", ForageStatusResult, forage_status.sync(client=client, body=ForageStatusArguments()))
assert status.success is True and status.version and any(tool.name == "get_content" for tool in status.tools)

content = expect("get_content", GetContentResult, get_content.sync(client=client, body=GetContentArguments(url=PAGE)))
assert content.title == "Bread" and "flour and water" in str(content.page_content)

found = expect("web_search", WebSearchResult, web_search.sync(client=client, body=WebSearchArguments(query="bread", num_results=2)))
assert [one.title for one in found.results] == ["Title 0", "Title 1"] and found.provider == "tavily"

body = PutMemoryBody(text="Atlas uses PostgreSQL.", tags=["decision", "backend"])
added = expect("put_memory", MemoryAddResult, put_memory.sync("decision/database", client=client, body=body))
assert added.data.key == "decision/database" and added.data.outcome == "added" and added.data.version == 1

got = expect("get_memory", MemoryGetResult, get_memory.sync("decision/database", client=client, max_chars=5))
(memory,) = got.data.results
assert memory.text == "Atlas" and memory.tags == ["decision", "backend"] and memory.next_start == 5

hits = expect("search_memories", MemorySearchResult, search_memories.sync(client=client, q="what does atlas use", tags=["decision"]))
assert [hit.key for hit in hits.data.results] == ["decision/database"] and hits.data.pagination.total == 1

hits = expect("search_memory_words", MemoryFulltextSearchResult, search_memory_words.sync(client=client, keywords=["postgresql", "mysql"]))
assert [hit.key for hit in hits.data.results] == ["decision/database"]

change = UpdateMemoryBody(text="Atlas uses SQLite.", if_version=1)
updated = expect("update_memory", MemoryUpdateResult, update_memory.sync("decision/database", client=client, body=change))
assert updated.data.outcome == "updated" and updated.data.version == 2 and updated.data.replaced.version == 1

versions = expect("versions", MemoryGetResult, get_memory.sync("decision/database", client=client, version=0)).data.versions
assert [(one.version, one.begins) for one in versions] == [(2, "Atlas uses SQLite."), (1, "Atlas uses PostgreSQL.")]

back = UpdateMemoryBody(version=1)
restored = expect("restored", MemoryUpdateResult, update_memory.sync("decision/database", client=client, body=back))
assert restored.data.version == 3

listed = expect("list_memories", MemoryListResult, list_memories.sync(client=client, limit=1))
assert listed.data.results[0].key == "decision/database" and listed.data.pagination.total == 1

names = MemoryRenameArguments(key="decision/database", new_key="database")
renamed = expect("memory_rename", MemoryRenameResult, memory_rename.sync(client=client, body=names))
assert renamed.data.key == "database"

exported = expect("export_memories", File, export_memories.sync(client=client))
lines = exported.payload.read()
assert lines.count(b"\n") == 1 and b"PostgreSQL" in lines

imported = expect("import_memories", Imported, import_memories.sync(client=client, body=File(payload=BytesIO(lines)), into="copy"))
assert imported.data.added == 1 and imported.data.namespace == "copy"

deleted = expect("delete_memory", MemoryDeleteResult, delete_memory.sync("database", client=client))
assert deleted.data.deleted == ["database"]

usage = expect("get_usage", Usage, get_usage.sync(client=client, days=1))
assert usage.total.calls == sum(row.calls for row in usage.rows)

asked = DeepSearchArguments(topic="Who bakes bread?", background=True)
handle = expect("deep_search", JobHandle, deep_search.sync(client=client, body=asked))
job = expect("get_job", Job, get_job.sync(handle.job, client=client))
assert job.status in ("waiting", "running") and job.question == "Who bakes bread?" and job.background is True
jobs = expect("list_jobs", Jobs, list_jobs.sync(client=client))
assert [one.job for one in jobs.jobs] == [handle.job]
ended = expect("end_job", JobEnded, end_job.sync(handle.job, client=client))
assert ended.job == handle.job

for call in (
    lambda: get_memory.sync("database", client=client),
    lambda: put_memory.sync("new", client=client, body=PutMemoryBody(text="x", if_version=7)),
    lambda: get_memory.sync("database", client=Client(base_url=URL)),
):
    failure = call()
    assert isinstance(failure, Failure) and failure.success is False, failure
    assert failure.error.message and failure.error.request_id
    print(failure.error.code)
