import type { WebhookWorker } from './delivery-types.ts'

/** What stands in for parts of this module that are not there yet: they do nothing. */
export const noWorker: WebhookWorker = { wake: () => {}, start: () => {}, stop: async () => {} }
