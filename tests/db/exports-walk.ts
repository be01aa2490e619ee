import { setTimeout as delay } from 'node:timers/promises'
import {
  beginAttempt,
  failExport,
  giveUpAttempt,
  saveProgress,
} from '../../server/modules/exports/export-attempt-store.ts'
import { findExport, insertExport, markFilesGone, openSince } from '../../server/modules/exports/exports-store.ts'
import type { TestHub } from '../support/hub.ts'

const exportsPath = '/api/v1/hub/exports'
const orderPath = '/api/v1/hub/records:export'
const never = '9999-12-31T23:59:59.999999Z'

/** All that sends SQL about a tenant's exports. */
export async function walkExports(hub: TestHub, tenant: 'acme' | 'globex'): Promise<void> {
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await hub.call(tenant, method, path, { body })
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
    return answer.body
  }
  const ended = async (jobId: string) => {
    for (;;) {
      const answer = await call('GET', `${exportsPath}/${jobId}`)
      if (answer.status === 'completed') return answer
      if (answer.error) throw new Error(answer.error.detail)
      await delay(50)
    }
  }
  const bounds = { created_at__gte: '2020-01-01T00:00:00Z', created_at__lt: '2999-01-01T00:00:00Z' }
  const orders = [
    { format: 'jsonl', verify: true, include_provenance: true, filter: bounds },
    { format: 'csv', compression: 'gzip', filter: { record_type: ['output'] } },
    { format: 'parquet' },
  ]
  const ordered: { job_id: string }[] = []
  for (const order of orders) ordered.push(await call('POST', orderPath, order))
  for (const { job_id } of ordered) {
    const { download_url, manifest_url } = await ended(job_id)
    for (const url of [download_url, manifest_url]) await call('GET', url.slice(hub.baseUrl.length))
  }
  const period = {
    from: '2020-01-01T00:00:00Z',
    to: new Date(Date.now() - 1000).toISOString(),
    include_content: tenant === 'acme',
  }
  await ended((await call('POST', '/api/v1/hub/evidence-packs', period)).job_id)
  const { job_id: unwanted } = await call('POST', orderPath, {})
  await hub.call(tenant, 'POST', `${exportsPath}/${unwanted}:cancel`)
  const { next_cursor } = await call('GET', `${exportsPath}?limit=1`)
  await call('GET', `${exportsPath}?limit=1&cursor=${next_cursor}`)

  const { exports } = hub.modules
  await hub.test.database.withTenant(tenant, async (tx) => {
    const order = {
      jobId: 'exp_walked',
      format: 'csv',
      compression: null,
      filter: {},
      recordTypes: ['output'],
    } as const
    const createdAt = '2026-01-01T00:00:00.000000Z'
    const asked = { verify: false, includeProvenance: false, createdBy: 'test', createdAt }
    await insertExport(tx, { ...order, ...asked }, never)
    const begun = await beginAttempt(tx, 'exp_walked', createdAt)
    const attempt = { jobId: 'exp_walked', attempt: begun?.attempt ?? 0 }
    await saveProgress(tx, attempt, { done: 1, total: 2, estimatedCompletionAt: never })
    await giveUpAttempt(tx, attempt, { counts: false })
    await openSince(tx, never)
    await failExport(tx, attempt, { slug: 'internal', detail: 'walked' })
    await findExport(tx, 'exp_walked')
    await markFilesGone(tx, ['exp_walked'])
    await exports.expiry.expireHolding(tx, { createdAt, purgedAt: never })
  })
  for (const chore of exports.chores) await hub.test.database.withTenant(tenant, (tx) => chore.run(tx))
  await exports.settled()
}
