import { anyReader, type Operation, ownCredential, scope } from './operation.ts'

/** Exports run in the background; their files are fetched by signed addresses. */
export const exportOperations = {
  createExport: {
    method: 'POST',
    path: '/api/v1/hub/records:export',
    access: anyReader,
    rateClass: 'hub-write',
    body: 'settings',
    tag: 'Exports',
    summary: 'Start an export',
  },
  createEvidencePack: {
    method: 'POST',
    path: '/api/v1/hub/evidence-packs',
    // It covers records of every type.
    access: scope('hub:read'),
    rateClass: 'hub-write',
    body: 'settings',
    tag: 'Exports',
    summary: 'Start an evidence pack',
  },
  listExports: {
    method: 'GET',
    path: '/api/v1/hub/exports',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Exports',
    summary: 'List the exports',
  },
  getExport: {
    method: 'GET',
    path: '/api/v1/hub/exports/{job_id}',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Exports',
    summary: 'Get an export',
  },
  cancelExport: {
    method: 'POST',
    path: '/api/v1/hub/exports/{job_id}:cancel',
    access: anyReader,
    rateClass: 'hub-write',
    body: 'settings',
    tag: 'Exports',
    summary: 'Cancel an export',
  },
  downloadExport: {
    method: 'GET',
    path: '/api/v1/hub/exports/{job_id}/{file_name}',
    access: ownCredential,
    rateClass: 'hub-read',
    tag: 'Exports',
    summary: 'Download a file of an export by its signed address',
  },
} as const satisfies Record<string, Operation>
