import { setTimeout as delay } from 'node:timers/promises'
import type { Scope } from '../../contract/scopes.ts'
import { type AuthHub, startAuthHub } from '../auth/auth-hub.ts'
import type { TestHubOptions } from '../support/hub.ts'
import { scaled } from '../support/machine-speed.ts'

export const exportsPath = '/api/v1/hub/exports'
export const orderPath = '/api/v1/hub/records:export'

export interface ExportsHub extends AuthHub {
  /** Orders an export, and answers its id. */
  order(tenant: string, body?: unknown, scopes?: readonly Scope[]): Promise<string>
  // biome-ignore lint/suspicious/noExplicitAny: what the test looks into
  ended(tenant: string, jobId: string): Promise<any>
  /** The bytes at a signed address. */
  fetched(url: string): Promise<string>
}

/** The Hub with some records of every kind in acme, and real exports. */
export async function startExportsHub(options: TestHubOptions = {}): Promise<ExportsHub> {
  const lab = await startAuthHub(options)
  const write = async (body: object) => {
    const answer = await lab.call('acme', 'POST', '/api/v1/hub/records', { body })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  }
  for (let row = 0; row < 5; row += 1) await write({ record_type: 'artifact', title: `Contract ${row}` })
  await write({ record_type: 'governance_event', event_kind: 'custom.reviewed' })

  async function ended(tenant: string, jobId: string) {
    for (const deadline = Date.now() + scaled(30_000); Date.now() < deadline; await delay(50)) {
      const { body } = await lab.call(tenant, 'GET', `${exportsPath}/${jobId}`)
      if (!['queued', 'running'].includes(body.status)) return body
    }
    throw new Error(`${jobId} does not end`)
  }

  return {
    ...lab,
    async order(tenant, body, scopes) {
      const answer = await lab.call(tenant, 'POST', orderPath, { body, ...(scopes && { scopes }) })
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
      return answer.body.job_id
    },
    ended,
    fetched: async (url) => (await fetch(url)).text(),
  }
}
