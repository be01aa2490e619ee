import { anyReader, anyToken, type Operation } from './operation.ts'

/** Search and suggestions. */
export const searchOperations = {
  searchRecords: {
    method: 'GET',
    path: '/api/v1/hub/search',
    access: anyReader,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Search the text of records',
  },
  suggest: {
    method: 'GET',
    path: '/api/v1/suggest',
    access: anyToken,
    rateClass: 'hub-read',
    tag: 'Hub',
    summary: 'Suggest skills, people, archetypes, models and records',
  },
} as const satisfies Record<string, Operation>
