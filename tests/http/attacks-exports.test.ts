import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Answer, startHub, type TestHub } from '../support/hub.ts'
import { patience } from '../support/machine-speed.ts'

/** Exports of others, of the threat list; the other attacks are in attacks.test.ts. */

const records = '/api/v1/hub/records'
let hub: TestHub
beforeAll(async () => {
  hub = await startHub()
})
afterAll(() => hub.stop())

const slugOf = (answer: Answer) => String(answer.body?.type).split('/').at(-1)

describe('7 exports', () => {
  const exports = '/api/v1/hub/exports'
  let jobId: string
  let address: URL

  beforeAll(async () => {
    jobId = (await hub.call('acme', 'POST', `${records}:export`, { body: {} })).body.job_id
    address = await vi.waitFor(
      async () => new URL((await hub.call('acme', 'GET', `${exports}/${jobId}`)).body.download_url),
      patience,
    )
  })

  test('of another tenant, and guessed ones, are not there', async () => {
    for (const path of [`${exports}/${jobId}x`, `${exports}/exp_${'A'.repeat(24)}`]) {
      for (const [method, target] of [
        ['GET', path],
        ['POST', `${path}:cancel`],
      ] as const) {
        expect((await hub.call('acme', method, target)).status, target).toBe(404)
      }
    }
    const foreign = await hub.call('globex', 'GET', `${exports}/${jobId}`)
    const unknown = await hub.call('globex', 'GET', `${exports}/exp_${'A'.repeat(24)}`)
    expect({ ...foreign.body, instance: '' }).toEqual({ ...unknown.body, instance: '' })
    expect((await hub.call('globex', 'GET', exports)).body.items).toEqual([])
    expect((await hub.call('globex', 'POST', `${exports}/${jobId}:cancel`)).status).toBe(404)
  })

  test('are downloaded by the address as it was given, and no other', async () => {
    const download = (change: (url: URL) => void = () => {}) => {
      const url = new URL(address)
      change(url)
      return hub.call('globex', 'GET', url.pathname + url.search, { token: null })
    }
    expect((await download()).status).toBe(200)
    const changes: ((url: URL) => void)[] = [
      (url) => url.searchParams.set('tenant', 'globex'),
      (url) => url.searchParams.set('expires', '4102444800'),
      (url) => url.searchParams.set('signature', '0'.repeat(43)),
      (url) => url.searchParams.delete('signature'),
      (url) => {
        url.pathname = url.pathname.replace(/[^/]+$/, `${jobId}.jsonl.manifest.json`)
      },
      (url) => {
        url.pathname = url.pathname.replaceAll(jobId, `exp_${'A'.repeat(24)}`)
      },
      (url) => {
        url.pathname = url.pathname.replace(/[^/]+$/, '..%2F..%2F..%2Fmaster.key')
      },
    ]
    for (const change of changes) {
      const answer = await download(change)
      expect([answer.status, slugOf(answer)], change.toString()).toEqual([403, 'invalid-download-url'])
    }
    const superuser = await hub.superuserClient()
    await superuser.query("update hub.exports set expires_at = now() - interval '1 second' where job_id = $1", [jobId])
    const late = await download()
    expect([late.status, slugOf(late)]).toEqual([403, 'invalid-download-url'])
  })
})
