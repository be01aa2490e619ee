import type { FastifyInstance } from 'fastify'
import { operations } from '../../../contract/operations.ts'
import { IdempotencyHeader } from '../../../contract/request-schemas.ts'
import { ReceiptSchema } from '../../../contract/response-schemas.ts'
import type { JsonValue } from '../../../provenance/json.ts'
import { namesTag } from '../../http/request-headers.ts'
import { addRoute, emptyBody, rawJson } from '../../http/route.ts'
import { RecordSchema, recordIdParams, VerificationSchema } from '../../records/record-schemas.ts'
import { rejectContent } from './mode-c-policy.ts'
import type { RecordPurger } from './purge-service.ts'
import type { RecordReading } from './read-service.ts'
import { RecordBody } from './record-body-schemas.ts'
import {
  etagHeader,
  ifMatchHeader,
  ifNoneMatchHeader,
  locationHeader,
  NotModified,
  PurgedSchema,
  purgeQuery,
  RecordPage,
  RelatedSchema,
  RestoredSchema,
  recordsQuery,
  relatedQuery,
  verifyQuery,
} from './records-schemas.ts'
import type { RecordRelations } from './relation-service.ts'
import type { RecordWriting } from './write-service.ts'

interface RecordServices {
  reading: RecordReading
  writing: RecordWriting
  purger: RecordPurger
  relations: RecordRelations
}

/** Returns the id in lower case. Clients may send UUIDs in either case (RFC 9562, section 4). */
function idOf(request: { params: { record_id: string } }): string {
  return request.params.record_id.toLowerCase()
}

export function addRecordRoutes(app: FastifyInstance, services: RecordServices): void {
  addReadRoutes(app, services)
  addWriteRoute(app, services.writing)
  addPurgeRoutes(app, services.purger)
}

// Sends records as stored: a serializer by schema would reject a record that someone has edited.
function addReadRoutes(app: FastifyInstance, { reading, relations }: RecordServices): void {
  addRoute(
    app,
    'queryRecords',
    {
      description:
        'Returns records of the types that the token may read, filtered and sorted. `verify=true` verifies each ' +
        'record of the page. Purged records are included only with `include_purged=true`. The filters by success, error ' +
        'code, platform, model, latency and cost scan at most 10,000 records for a page, so it can be short, or empty, and ' +
        'still have a `next_cursor`: follow it with the same parameters until it is null.',
      querystring: recordsQuery,
      response: { 200: RecordPage },
    },
    async (request, reply) => rawJson(reply, await reading.query(request.caller, request.query)),
  )

  addRoute(
    app,
    'getRecord',
    {
      description:
        'A purged record is returned with `is_purged: true`. An erased record, or a record of a type that the ' +
        "token may not read, is 404. If the content was destroyed with the tenant's key (`cmek:destroy`), the " +
        'remaining members are returned with `content: "unavailable"`. With `verify=true` a 304 also means that ' +
        'the record verifies; a record that does not verify, or has no content, is returned in full.',
      params: recordIdParams,
      querystring: verifyQuery,
      headers: ifNoneMatchHeader,
      response: { 200: RecordSchema, 304: NotModified },
      responseHeaders: { 200: etagHeader, 304: etagHeader },
    },
    async (request, reply) => {
      const { verify = false } = request.query
      const { record, etag, verified, isContentGone } = await reading.get(request.caller, idOf(request), verify)
      reply.header('etag', etag)
      const isSame = verified !== false && !isContentGone
      if (isSame && namesTag(request.headers['if-none-match'], etag)) return reply.code(304).send()
      return rawJson(reply, record)
    },
  )

  addRoute(
    app,
    'verifyRecord',
    {
      description:
        'Computes the hash and checks the cosignature of the stored record, and replays the legal holds. If the ' +
        'content was destroyed with the key of its tenant, it checks that the stored hash is the sealed one and ' +
        'that a verified governance event records the destruction.',
      params: recordIdParams,
      body: emptyBody,
      bodyOptional: true,
      response: { 200: VerificationSchema },
    },
    async (request) => reading.verify(request.caller, idOf(request)),
  )

  addRoute(
    app,
    'getRelatedRecords',
    {
      description: 'Follows `related_records` up to `depth` hops.',
      params: recordIdParams,
      querystring: relatedQuery,
      response: { 200: RelatedSchema },
    },
    async (request, reply) => {
      const { depth = 1, direction = 'both' } = request.query
      const answer = await relations.related(request.caller, idOf(request), { depth, direction })
      return rawJson(reply, answer)
    },
  )
}

function addWriteRoute(app: FastifyInstance, writing: RecordWriting): void {
  addRoute(
    app,
    'writeRecord',
    {
      description:
        'The members depend on `record_type`. A `skill_definition` registers a version of a skill. The response ' +
        'is sent after the record is stored durably.',
      headers: IdempotencyHeader,
      body: RecordBody,
      screenBody: ({ tenant }, body) => {
        if (tenant.mode === 'C') rejectContent(body as JsonValue | undefined)
      },
      response: { 201: ReceiptSchema },
      responseHeaders: { 201: locationHeader },
      problems: ['content-not-allowed', 'idempotency-conflict', 'skill-not-registered', 'hub-not-provisioned'],
    },
    async (request, reply) => {
      const { receipt, replayed } = await writing.write(request.caller, {
        body: request.body,
        path: operations.writeRecord.path,
        idempotencyKey: request.headers['idempotency-key'],
      })
      reply.code(201).header('location', `/api/v1/hub/records/${receipt.record_id}`)
      if (replayed) reply.header('idempotent-replayed', 'true')
      return receipt
    },
  )
}

function addPurgeRoutes(app: FastifyInstance, purger: RecordPurger): void {
  addRoute(
    app,
    'purgeRecord',
    {
      description:
        'Removes the record from queries. It can be restored for 30 days and is erased afterwards. A legal hold ' +
        'or a minimum retention prevents it (422). Repeating the request returns the same response.',
      params: recordIdParams,
      querystring: purgeQuery,
      headers: ifMatchHeader,
      response: { 200: PurgedSchema },
      responseHeaders: { 200: etagHeader },
      problems: ['concurrent-modification', 'legal-hold', 'retention'],
    },
    async (request, reply) => {
      const { answer, etag } = await purger.purge(request.caller, idOf(request), {
        reason: request.query.reason,
        ifMatch: request.headers['if-match'],
      })
      reply.header('etag', etag)
      return answer
    },
  )

  addRoute(
    app,
    'restoreRecord',
    {
      description: 'Undoes a purge within the recovery period of 30 days.',
      params: recordIdParams,
      headers: ifMatchHeader,
      body: emptyBody,
      bodyOptional: true,
      response: { 200: RestoredSchema },
      responseHeaders: { 200: etagHeader },
      problems: ['concurrent-modification'],
    },
    async (request, reply) => {
      const { answer, etag } = await purger.restore(request.caller, idOf(request), {
        ifMatch: request.headers['if-match'],
      })
      reply.header('etag', etag)
      return answer
    },
  )
}
