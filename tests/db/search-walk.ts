import type { TestHub } from '../support/hub.ts'

const search = '/api/v1/hub/search'

/** All that sends SQL about search and suggestions. */
export async function walkSearch(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  for (const title of ['Yak one', 'Yak two', 'Yak three']) {
    await call('POST', '/api/v1/hub/records', { record_type: 'artifact', title })
  }
  const filters = '&skill_id=sum-up&created_at__gte=2026-01-01T00:00:00Z&created_at__lte=2099-01-01T00:00:00Z'
  await call('GET', `${search}?q=yak&record_type=output${filters}&include_purged=true`)
  for (const q of ['yak', 'where%20do%20yak%20live']) {
    const { next_cursor: cursor } = await call('GET', `${search}?q=${q}&limit=1`)
    await call('GET', `${search}?q=${q}&limit=1&cursor=${cursor}`)
  }
  await call('GET', '/api/v1/suggest?q=a')
  await call('GET', '/api/v1/suggest?q=01a00000&kind=record')
  await call('PUT', '/api/v1/tenant', { search_language: 'english' })
  while (await hub.modules.hub.searchIndexer.index(tenant));
}
