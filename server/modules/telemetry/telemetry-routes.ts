import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { batchErrorsMax, bodyBounds, bodyBytesPerRequest } from '../../../contract/limits.ts'
import { IdempotencyHeader } from '../../../contract/request-schemas.ts'
import { ReceiptSchema, replayedHeader } from '../../../contract/response-schemas.ts'
import type { JsonValue } from '../../../provenance/index.ts'
import { addRoute, rawJson } from '../../http/route.ts'
import type { RecordReceipt } from '../records/records-types.ts'
import { ExceptionsPage, exceptionsQuery } from './exceptions/exceptions-schemas.ts'
import { type CostExceptions, scannedMax } from './exceptions/exceptions-service.ts'
import { ReconciliationPage, SummaryPage, summaryQuery } from './summary/summary-schemas.ts'
import type { TelemetrySummaries } from './summary/summary-service.ts'
import { BatchResponseSchema, BatchSchema, EventSchema } from './telemetry-schemas.ts'
import type { BatchResponse, Telemetry } from './telemetry-types.ts'

export function addTelemetryRoutes(app: FastifyInstance, telemetry: Telemetry): void {
  addRoute(
    app,
    'ingestEvent',
    {
      description: 'The event is stored as a `telemetry_event` record. 201 means committed and readable.',
      headers: IdempotencyHeader,
      body: EventSchema,
      // The allowed members depend on the tenant's mode, and the errors on its catalogue.
      bodyChecked: 'by handler',
      response: { 201: ReceiptSchema },
      responseHeaders: {
        201: { location: Type.String({ description: 'The record' }), ...replayedHeader },
      },
      problems: ['content-not-allowed', 'skill-not-registered', 'hub-not-provisioned', 'idempotency-conflict'],
    },
    async (request, reply) => {
      const { answer, replayed } = await telemetry.ingestEvent(
        request.caller,
        request.body as JsonValue,
        request.headers['idempotency-key'],
      )
      markCreated(reply, replayed)
      reply.header('location', `/api/v1/hub/records/${answer.record_id}`)
      return rawJson(reply, receiptText(answer))
    },
  )

  addRoute(
    app,
    'ingestBatch',
    {
      description:
        'Each event stands alone: those that pass are stored and have an entry in `records`, the others one in ' +
        `\`errors\`, which lists the first ${batchErrorsMax}. The body may be gzip-encoded. It has at most ` +
        `${bodyBounds.batch.bytes} bytes after inflation and ${bodyBounds.batch.values} JSON values, an event at most ` +
        `${bodyBounds.batch.eventValues}, a member name at most ${bodyBounds.batch.nameBytes} bytes and a text at most ` +
        `${bodyBounds.batch.textBytes}; it counts as one request for each started ${bodyBytesPerRequest} bytes.`,
      headers: IdempotencyHeader,
      body: BatchSchema,
      bodyChecked: 'by handler',
      response: { 201: BatchResponseSchema },
      responseHeaders: { 201: replayedHeader },
      problems: ['content-not-allowed', 'batch-too-large', 'hub-not-provisioned', 'idempotency-conflict'],
    },
    async (request, reply) => {
      const { answer, replayed } = await telemetry.ingestBatch(
        request.caller,
        request.body as JsonValue,
        request.headers['idempotency-key'],
      )
      markCreated(reply, replayed)
      return rawJson(reply, batchText(answer))
    },
  )
}

/**
 * Serialises a receipt. Ids, hashes and cosignatures need no escaping; concatenation takes a third of a serializer's
 * time.
 */
function receiptText({ record_id, provenance_hash, provenance_cosign }: RecordReceipt): string {
  return `{"record_id":"${record_id}","provenance_hash":"${provenance_hash}","provenance_cosign":"${provenance_cosign}"}`
}

function batchText({ accepted, failed, records, errors, errors_omitted: omitted }: BatchResponse): string {
  const receipts = records.map((record) => `{"index":${record.index},${receiptText(record).slice(1)}`)
  const rejections = errors === undefined ? '' : `,"errors":${JSON.stringify(errors)}`
  const others = omitted === undefined ? '' : `,"errors_omitted":${omitted}`
  return `{"accepted":${accepted},"failed":${failed},"records":[${receipts.join(',')}]${rejections}${others}}`
}

function markCreated(reply: FastifyReply, replayed: boolean): void {
  reply.code(201)
  if (replayed) reply.header('idempotent-replayed', 'true')
}

const counted =
  'Counts and sums are exact and include each event as soon as its 201 is sent. Deleting records changes nothing ' +
  'in them. Follow `next_cursor` with the same parameters until it is null.'

export function addSummaryRoutes(app: FastifyInstance, summaries: TelemetrySummaries): void {
  addRoute(
    app,
    'summarizeTelemetry',
    {
      description: `Events by \`ts\`, from ≤ ts < to, in one row for each interval and key. ${counted}`,
      querystring: summaryQuery,
      response: { 200: SummaryPage },
    },
    async (request) => summaries.summarize(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'reconcileTelemetry',
    {
      description: `Compares reported with calculated costs, in the rows of the summary with the same parameters. ${counted}`,
      querystring: summaryQuery,
      response: { 200: ReconciliationPage },
    },
    async (request) => summaries.reconcile(request.caller.tenant, request.query),
  )
}

export function addExceptionsRoutes(app: FastifyInstance, exceptions: CostExceptions): void {
  addRoute(
    app,
    'listCostExceptions',
    {
      description: `Returns events whose costs disagree by their last pricing, without purged ones. A request scans at most ${scannedMax.toLocaleString('en')} records, so a page can have fewer items than \`limit\`, or none, and still have a \`next_cursor\`: follow it with the same parameters until it is null.`,
      querystring: exceptionsQuery,
      response: { 200: ExceptionsPage },
    },
    async (request) => exceptions.list(request.caller.tenant, request.query),
  )
}
