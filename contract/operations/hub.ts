import { anyReader, type Operation, scope } from './operation.ts'

/** Records. */
export const hubOperations = {
  queryRecords: {
    method: 'GET',
    path: '/api/v1/hub/records',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Query records',
  },
  writeRecord: {
    method: 'POST',
    path: '/api/v1/hub/records',
    access: scope('hub:write'),
    rateClass: 'hub-write',
    tag: 'Hub',
    summary: 'Write a record',
  },
  getRecord: {
    method: 'GET',
    path: '/api/v1/hub/records/{record_id}',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Get a record',
  },
  purgeRecord: {
    method: 'DELETE',
    path: '/api/v1/hub/records/{record_id}',
    access: scope('hub:purge'),
    rateClass: 'hub-write',
    tag: 'Hub',
    summary: 'Soft-delete a record',
  },
  restoreRecord: {
    method: 'POST',
    path: '/api/v1/hub/records/{record_id}:restore',
    access: scope('hub:purge'),
    rateClass: 'hub-write',
    tag: 'Hub',
    summary: 'Restore a purged record',
  },
  getRelatedRecords: {
    method: 'GET',
    path: '/api/v1/hub/records/{record_id}/related',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Walk the relationship graph',
  },
  verifyRecord: {
    method: 'POST',
    path: '/api/v1/hub/records/{record_id}/verify',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Verify the provenance of a record',
  },
  releaseRecord: {
    method: 'POST',
    path: '/api/v1/hub/records/{record_id}/legal-hold-releases',
    access: scope('hub:purge'),
    rateClass: 'hub-write',
    tag: 'Governance',
    summary: 'Release a governance event for purging',
  },
} as const satisfies Record<string, Operation>
