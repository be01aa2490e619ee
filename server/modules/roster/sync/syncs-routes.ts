import type { FastifyInstance } from 'fastify'
import { PageQuery } from '../../../../contract/request-schemas.ts'
import { addRoute, emptyBody } from '../../../http/route.ts'
import { StartedSync, SyncList, SyncParams, SyncSchema, syncLocation } from './syncs-schemas.ts'
import type { Syncs } from './syncs-service.ts'

export function addSyncRoutes(app: FastifyInstance, syncs: Syncs): void {
  addRoute(
    app,
    'syncRoster',
    {
      description:
        'Starts a sync in the background: with `pull` it reads the directory, with `push` it assigns archetypes ' +
        'from the data that the directory has sent. Poll the address in `Location`. If a sync is running, it is ' +
        'returned.',
      body: emptyBody,
      bodyOptional: true,
      response: { 202: StartedSync },
      responseHeaders: { 202: syncLocation },
      problems: ['concurrent-modification', 'hub-unavailable'],
    },
    async (request, reply) => {
      const { sync_id, status } = await syncs.start(request.caller)
      reply.code(202).header('location', `/api/v1/roster/scim-syncs/${sync_id}`)
      return { sync_id, status }
    },
  )

  addRoute(
    app,
    'getLatestRosterSync',
    {
      description: 'Returns the latest sync, running or ended.',
      response: { 200: SyncSchema },
      problems: ['not-found'],
    },
    async (request) => syncs.latest(request.caller.tenant),
  )

  addRoute(
    app,
    'listRosterSyncs',
    {
      description: 'Newest first. Syncs are deleted 30 days after their end.',
      querystring: PageQuery,
      response: { 200: SyncList },
      problems: ['invalid-cursor'],
    },
    async (request) => syncs.list(request.caller.tenant, request.query),
  )

  addRoute(
    app,
    'getRosterSync',
    {
      description: 'Returns its progress and its changes.',
      params: SyncParams,
      response: { 200: SyncSchema },
    },
    async (request) => syncs.get(request.caller.tenant, request.params.sync_id),
  )

  const action = {
    params: SyncParams,
    body: emptyBody,
    bodyOptional: true,
    response: { 200: SyncSchema },
    problems: ['concurrent-modification', 'hub-unavailable'],
  } as const

  addRoute(
    app,
    'confirmRosterSync',
    {
      ...action,
      description:
        'The sync continues and deactivates the people that are absent from the directory. Repeating the request ' +
        'returns the same response.',
    },
    async (request) => syncs.confirm(request.caller, request.params.sync_id),
  )

  addRoute(
    app,
    'cancelRosterSync',
    { ...action, description: 'Applied changes stay. Repeating the request returns the same response.' },
    async (request) => syncs.cancel(request.caller, request.params.sync_id),
  )
}
