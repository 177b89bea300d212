// What a user of the generated TypeScript client writes: calls.ts URL TOKEN PAGE. Says what it called, one name a line.

import * as forage from './forage_client';
import type { Failure } from './forage_client';
import { client } from './forage_client/client.gen';

declare const process: { argv: string[] };

const [url, token, page] = process.argv.slice(2);
client.setConfig({ baseUrl: url, auth: () => token });

function expect(name: string, holds: boolean | undefined): void {
  if (holds !== true) {
    throw new Error(`${name} is not as expected`);
  }
  console.log(name);
}

function expectFailure(failure: Failure | undefined): void {
  if (failure === undefined || failure.success || !failure.error.message || !failure.error.request_id) {
    throw new Error(`no failure: ${JSON.stringify(failure)}`);
  }
  console.log(failure.error.code);
}

async function main(): Promise<void> {
  const status = await forage.forageStatus({ body: {}, throwOnError: true });
  expect('forage_status', status.data.success && status.data.version !== '');

  const content = await forage.getContent({ body: { url: page }, throwOnError: true });
  expect('get_content', content.data.title === 'Bread' && content.data.page_content?.includes('flour and water') === true);

  const found = await forage.webSearch({ body: { query: 'bread', num_results: 2, type: 'web' }, throwOnError: true });
  expect('web_search', found.data.results.map((one) => one.title).join() === 'Title 0,Title 1');

  const path = { key: 'decision/database' };
  const body = { text: 'Atlas uses PostgreSQL.', tags: ['decision', 'backend'] };
  const added = await forage.putMemory({ path, body, throwOnError: true });
  expect('put_memory', added.data.data.outcome === 'added' && added.data.data.version === 1);

  const got = await forage.getMemory({ path, query: { max_chars: 5 }, throwOnError: true });
  const memory = got.data.data.results?.[0];
  expect('get_memory', memory?.text === 'Atlas' && memory.tags?.length === 2 && memory.next_start === 5);

  const hits = await forage.searchMemories({ query: { q: 'what does atlas use', tags: ['decision'] }, throwOnError: true });
  expect('search_memories', hits.data.data.results[0].key === path.key && hits.data.data.pagination.total === 1);

  const words = await forage.searchMemoryWords({ query: { keywords: ['postgresql', 'mysql'] }, throwOnError: true });
  expect('search_memory_words', words.data.data.results.length === 1);

  const change = { text: 'Atlas uses SQLite.', if_version: 1 };
  const updated = await forage.updateMemory({ path, body: change, throwOnError: true });
  expect('update_memory', updated.data.data.version === 2 && updated.data.data.replaced?.version === 1);

  const versions = await forage.getMemory({ path, query: { version: 0 }, throwOnError: true });
  expect('versions', versions.data.data.versions?.map((one) => one.version).join() === '2,1');

  const restored = await forage.updateMemory({ path, body: { version: 1 }, throwOnError: true });
  expect('restored', restored.data.data.version === 3);

  const listed = await forage.listMemories({ query: { limit: 1 }, throwOnError: true });
  expect('list_memories', listed.data.data.pagination.total === 1);

  const renamed = await forage.memoryRename({ body: { key: path.key, new_key: 'database' }, throwOnError: true });
  expect('memory_rename', renamed.data.data.key === 'database');

  const exported = await forage.exportMemories({ throwOnError: true });
  expect('export_memories', (await exported.data.text()).includes('PostgreSQL'));

  const imported = await forage.importMemories({ body: exported.data, query: { into: 'copy' }, throwOnError: true });
  expect('import_memories', imported.data.data.added === 1);

  const deleted = await forage.deleteMemory({ path: { key: 'database' }, throwOnError: true });
  expect('delete_memory', deleted.data.data.deleted[0] === 'database');

  const usage = await forage.getUsage({ query: { days: 1 }, throwOnError: true });
  expect('get_usage', usage.data.total.calls === usage.data.rows.reduce((sum, row) => sum + row.calls, 0));

  const asked = { topic: 'Who bakes bread?', background: true };
  const handle = await forage.deepSearch({ body: asked, throwOnError: true });
  expect('deep_search', handle.response.status === 202 && 'job' in handle.data);
  const job = { job: handle.data.job ?? '' };
  const running = await forage.getJob({ path: job, throwOnError: true });
  expect('get_job', running.data.background && running.data.question === asked.topic);
  const jobs = await forage.listJobs({ throwOnError: true });
  expect('list_jobs', jobs.data.jobs.map((one) => one.job).join() === job.job);
  const ended = await forage.endJob({ path: job, throwOnError: true });
  expect('end_job', ended.data.job === job.job);

  expectFailure((await forage.getMemory({ path: { key: 'database' } })).error);
  expectFailure((await forage.putMemory({ path: { key: 'new' }, body: { text: 'x', if_version: 7 } })).error);
  expectFailure((await forage.getMemory({ path, auth: () => 'wrong' })).error);
}

void main();
