import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ownViewsMax, sharedViewsMax } from '../../../contract/limits.ts'
import { addRoute } from '../../http/route.ts'
import {
  NewViewBody,
  ViewChangesBody,
  ViewList,
  ViewParams,
  ViewSchema,
  ViewsQuery,
  viewLocation,
} from './views-schemas.ts'
import type { SavedViews } from './views-service.ts'

export function addViewRoutes(app: FastifyInstance, views: SavedViews): void {
  addRoute(
    app,
    'listViews',
    {
      description: 'Sorted by name, case-insensitive.',
      querystring: ViewsQuery,
      response: { 200: ViewList },
      problems: ['invalid-cursor'],
    },
    async (request) => views.list(request.caller, request.query),
  )

  addRoute(
    app,
    'createView',
    {
      description: `An owner has at most ${ownViewsMax} views, and a tenant at most ${sharedViewsMax} shared ones. A view whose query names a user is deleted when the last record of the user is erased.`,
      body: NewViewBody,
      response: { 201: ViewSchema },
      responseHeaders: { 201: viewLocation },
      problems: ['concurrent-modification'],
    },
    async (request, reply) => {
      const view = await views.create(request.caller, request.body)
      reply.code(201).header('location', `/api/v1/views/${view.view_id}`)
      return view
    },
  )

  addRoute(
    app,
    'updateView',
    {
      description:
        'Absent members stay unchanged. Only the owner can change a view, and an administrator if it is shared. ' +
        "Other people's private views are 404.",
      params: ViewParams,
      body: ViewChangesBody,
      response: { 200: ViewSchema },
      problems: ['concurrent-modification'],
    },
    async (request) => views.update(request.caller, request.params.view_id, request.body),
  )

  addRoute(
    app,
    'removeView',
    {
      description: 'Removes it permanently, for everyone if it was shared. Requires the same permission as a change.',
      params: ViewParams,
      response: { 204: Type.Null() },
    },
    async (request, reply) => {
      await views.remove(request.caller, request.params.view_id)
      return reply.code(204).send()
    },
  )
}
