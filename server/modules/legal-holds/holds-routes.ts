import type { FastifyInstance } from 'fastify'
import { filterHoldsMax } from '../../../contract/limits.ts'
import { PageQuery } from '../../../contract/request-schemas.ts'
import { addRoute } from '../../http/route.ts'
import { recordIdParams } from '../../records/record-schemas.ts'
import type { EventReleases } from './event-releases.ts'
import {
  HoldList,
  HoldParams,
  HoldSchema,
  HoldsQuery,
  holdLocation,
  PlaceHoldBody,
  RecordStateSchema,
  ReleaseBody,
  ReleaseHoldBody,
  ReleaseList,
  ReleaseSchema,
  WholeHoldSchema,
} from './holds-schemas.ts'
import type { Holds } from './holds-service.ts'
import type { RecordStates } from './record-state-service.ts'

/** Returns the id in lower case. Clients may send UUIDs in either case (RFC 9562, section 4). */
function idOf(request: { params: { hold_id: string } }): string {
  return request.params.hold_id.toLowerCase()
}

export function addLegalHoldRoutes(
  app: FastifyInstance,
  { holds, releases, states }: { holds: Holds; releases: EventReleases; states: RecordStates },
): void {
  addReleaseRoutes(app, releases)
  addHoldRoutes(app, holds)
  addRecordStateRoutes(app, states)
}

function addHoldRoutes(app: FastifyInstance, holds: Holds): void {
  addRoute(
    app,
    'placeHold',
    {
      description: `A record under a hold cannot be purged or erased; several holds can cover one record. Send exactly one of \`record_ids\`, a \`filter\` with at least one condition, and \`"all": true\` for every record. A filter and \`all\` also cover records that are written later. For records that are already purged, the recovery period stops until no hold covers them. A tenant has at most ${filterHoldsMax} active holds with a filter or \`all\`.`,
      body: PlaceHoldBody,
      response: { 201: HoldSchema },
      responseHeaders: { 201: holdLocation },
      problems: ['invalid-tenant'],
    },
    async (request, reply) => {
      const hold = await holds.place(request.caller, request.body)
      reply.code(201).header('location', `/api/v1/hub/legal-holds/${hold.hold_id}`)
      return hold
    },
  )

  addRoute(
    app,
    'listHolds',
    { description: 'The oldest first.', querystring: HoldsQuery, response: { 200: HoldList } },
    async (request) => holds.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getHold',
    {
      description: 'With the ids of its records, or its filter.',
      params: HoldParams,
      response: { 200: WholeHoldSchema },
    },
    async (request) => holds.get(request.caller.tenant, idOf(request)),
  )

  addRoute(
    app,
    'releaseHold',
    {
      description:
        'Ends the hold permanently. The recovery period of its purged records resumes, unless another hold covers ' +
        'them. Repeating the request returns the same response. If four eyes are required, the person who purged ' +
        'such a record must not release it (`legal-hold`).',
      params: HoldParams,
      body: ReleaseHoldBody,
      // A missing body then fails with the missing reason.
      bodyOptional: true,
      response: { 200: HoldSchema },
      problems: ['legal-hold'],
    },
    async (request) => holds.release(request.caller, idOf(request), request.body.reason),
  )
}

function addReleaseRoutes(app: FastifyInstance, releases: EventReleases): void {
  addRoute(
    app,
    'releaseRecord',
    {
      description:
        'A governance event can be purged only while it has an active release. A release can have an end time.',
      params: recordIdParams,
      body: ReleaseBody,
      // A missing body then fails with the missing reason.
      bodyOptional: true,
      response: { 201: ReleaseSchema },
    },
    async (request, reply) => {
      reply.code(201)
      return releases.create(request.caller, request.params.record_id.toLowerCase(), request.body)
    },
  )

  addRoute(
    app,
    'listReleases',
    {
      description: 'Oldest first, including ended releases.',
      params: recordIdParams,
      querystring: PageQuery,
      response: { 200: ReleaseList },
    },
    async (request) => releases.list(request.caller, request.params.record_id.toLowerCase(), request.query),
  )
}

function addRecordStateRoutes(app: FastifyInstance, states: RecordStates): void {
  addRoute(
    app,
    'getRecordState',
    {
      description:
        'Returns whether the record is purged, by whom and why, until when it can be restored, and the legal ' +
        'holds that cover it. After the erasure, see its deletion certificate.',
      params: recordIdParams,
      response: { 200: RecordStateSchema },
    },
    async (request) => states.get(request.caller, request.params.record_id.toLowerCase()),
  )
}
