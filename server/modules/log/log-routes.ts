import type { FastifyInstance } from 'fastify'
import { addRoute, rawJson } from '../../http/route.ts'
import type { LogFeed } from './log-feed.ts'
import type { LogProofs } from './log-proofs.ts'
import {
  CheckpointSchema,
  ConsistencyQuery,
  ConsistencySchema,
  EntriesPage,
  EntriesQuery,
  ProofBundleQuery,
  ProofBundleSchema,
  ProofParams,
  ProofSchema,
} from './log-schemas.ts'
import type { ProofBundles } from './proof-bundles.ts'

export function addLogRoutes(
  app: FastifyInstance,
  { proofs, bundles, feed }: { proofs: LogProofs; bundles: ProofBundles; feed: LogFeed },
): void {
  addRoute(
    app,
    'getLogCheckpoint',
    {
      description:
        'The log contains every seal of the tenant, and thus every record, in an order that never changes. Store ' +
        'checkpoints outside the reach of the service: they reveal a history that was rewritten later.',
      response: { 200: CheckpointSchema },
    },
    async (request) => proofs.checkpoint(request.caller.tenant),
  )

  addRoute(
    app,
    'getLogConsistency',
    {
      description:
        'Proves that the later log starts with all entries of the earlier one. `from=0` is 400, because every log ' +
        'continues the empty log.',
      querystring: ConsistencyQuery,
      response: { 200: ConsistencySchema },
    },
    async (request) => proofs.consistency(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getRecordProof',
    {
      description: 'Also for purged records. After the erasure, the deletion certificate contains it.',
      params: ProofParams,
      response: { 200: ProofSchema },
    },
    // Clients may send UUIDs in either case (RFC 9562, section 4).
    async (request) => proofs.inclusion(request.caller, request.params.record_id.toLowerCase()),
  )

  // Sends records as stored: a serializer by schema would reject a record that someone has edited.
  addRoute(
    app,
    'getProofBundle',
    {
      description:
        'One file that `hub verify FILE` checks offline: hash, cosignature, seal, place in the log, checkpoint and ' +
        'keys. A record can be requested right after it is written, until it is erased; purged records have ' +
        '`is_purged: true`. Encrypted content (mode B) is in clear; if its key was destroyed, the record has ' +
        '`content: "unavailable"`, and its hash cannot be checked.',
      params: ProofParams,
      querystring: ProofBundleQuery,
      response: { 200: ProofBundleSchema },
    },
    async ({ caller, params, query }, reply) =>
      rawJson(reply, await bundles.bundle(caller, params.record_id.toLowerCase(), query.consistency_from)),
  )

  addRoute(
    app,
    'listLogEntries',
    {
      description:
        'A complete change feed: a record that is committed later is listed later, regardless of its time. ' +
        'Continue with `after` set to `last_position`, to the `position` or `record_id` of the last item that you ' +
        'processed, or to `next_cursor`. A page can have few or no items although more follow: continue until ' +
        '`next_cursor` is null.',
      querystring: EntriesQuery,
      response: { 200: EntriesPage },
    },
    async (request, reply) => rawJson(reply, await feed.follow(request.caller, request.query)),
  )
}
