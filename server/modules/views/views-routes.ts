import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { ownViewsMax, pageSizeDefault, sharedViewsMax } from '../../../contract/limits.ts'
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
import type { SavedViews } from './views-types.ts'

export function addViewRoutes(app: FastifyInstance, views: SavedViews): void {
  addRoute(
    app,
    'listViews',
    {
      description: 'By name, upper and lower case alike.',
      querystring: ViewsQuery,
      response: { 200: ViewList },
      problems: ['invalid-cursor'],
    },
    async (request) => {
      const { page, limit = pageSizeDefault, cursor } = request.query
      return views.list(request.caller, { page, limit, cursor })
    },
  )

  addRoute(
    app,
    'createView',
    {
      description:
        `One owner has at most ${ownViewsMax} views, and a tenant shares at most ${sharedViewsMax}. A view whose query ` +
        'names a user goes once the last record of that user is erased.',
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
        'What is left out stays. Only its owner changes a view, and an administrator one that is shared; one that is not ' +
        'is unknown to everybody else.',
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
      description: 'For good, and for everybody where it was shared. Who may change a view may remove it.',
      params: ViewParams,
      response: { 204: Type.Null() },
    },
    async (request, reply) => {
      await views.remove(request.caller, request.params.view_id)
      return reply.code(204).send()
    },
  )
}
