import type { Answer } from '../support/hub.ts'

const records = '/api/v1/hub/records'
const holds = '/api/v1/hub/legal-holds'

/** Cases of governance-event-cases.ts: what changes records, holds, retention and exports. They follow one another. */
export function recordEventCases(
  call: (method: string, path: string, body?: unknown) => Promise<Answer>,
  /** Ids of an artifact, of another one, and of a governance event of a client. */
  made: () => { record: string; other: string; event: string },
) {
  let hold = ''
  return {
    placeHold: {
      run: async () => {
        hold = (await call('POST', holds, { name: 'matter', reason: 'court', record_ids: [made().other] })).body.hold_id
        return `hold:${hold}`
      },
      kind: 'hub.legal_hold_applied',
      states: 'after',
    },
    releaseHold: {
      run: async () => {
        await call('POST', `${holds}/${hold}:release`, { reason: 'over' })
        return `hold:${hold}`
      },
      kind: 'hub.legal_hold_released',
    },
    replaceRetentionRules: {
      run: async () => {
        await call('PUT', '/api/v1/hub/retention-rules', { rules: [{ record_type: 'output', min_days: 1 }] })
        return 'tenant:acme'
      },
      kind: 'tenant.config_changed',
      change: 'retention_rules',
    },
    releaseRecord: {
      run: async () => {
        await call('POST', `${records}/${made().event}/legal-hold-releases`, { reason: 'free' })
        return `record:${made().event}`
      },
      kind: 'hub.legal_hold_released',
      states: 'none',
    },
    purgeRecord: {
      run: async () => {
        await call('DELETE', `${records}/${made().record}?reason=asked`)
        return `record:${made().record}`
      },
      kind: 'hub.record_purged',
      states: 'none',
    },
    restoreRecord: {
      run: async () => {
        await call('POST', `${records}/${made().record}:restore`)
        return `record:${made().record}`
      },
      kind: 'hub.record_restored',
      states: 'none',
    },
    createExport: {
      run: async () => {
        const { job_id } = (await call('POST', `${records}:export`, { format: 'jsonl' })).body
        return `export:${job_id}`
      },
      kind: 'hub.export_created',
      states: 'none',
    },
    createEvidencePack: {
      run: async () => {
        const period = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
        const { job_id } = (await call('POST', '/api/v1/hub/evidence-packs', period)).body
        return `export:${job_id}`
      },
      kind: 'hub.export_created',
      states: 'none',
    },
    cancelExport: {
      run: async () => {
        const { body } = await call('POST', `${records}:export`, {
          format: 'jsonl',
          filter: { record_type: ['output'] },
        })
        await call('POST', `/api/v1/hub/exports/${body.job_id}:cancel`)
        return `export:${body.job_id}`
      },
      kind: 'hub.export_cancelled',
      states: 'none',
    },
  } as const
}
