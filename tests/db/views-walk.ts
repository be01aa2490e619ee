import type { TestHub } from '../support/hub.ts'

const views = '/api/v1/views'

/** All that sends SQL about saved views; one remains, which names the user that the walk of erasure erases. */
export async function walkViews(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const named = (name: string) => ({ page: 'records', name, query: 'user_id=user%3Awalked', shared: true })
  const { view_id: id } = await call('POST', views, named('First'))
  for (const name of ['Second', 'Third']) await call('POST', views, named(name))
  await call('POST', views, { page: 'governance', name: 'Stays', query: '' })
  await call('PATCH', `${views}/${id}`, { name: 'Changed', shared: false })
  await call('PATCH', `${views}/${id}`, { shared: true })
  for (const page of ['', '&page=records']) {
    const { next_cursor: cursor } = await call('GET', `${views}?limit=1${page}`)
    await call('GET', `${views}?limit=1${page}&cursor=${cursor}`)
  }
  await call('DELETE', `${views}/${id}`)
}
