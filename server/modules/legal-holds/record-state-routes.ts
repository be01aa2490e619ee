import type { FastifyInstance } from 'fastify'
import { addRoute } from '../../http/route.ts'
import { recordIdParams } from '../../records/record-schemas.ts'
import { RecordStateSchema } from './record-state-schemas.ts'
import type { RecordStates } from './record-state-service.ts'

export function addRecordStateRoutes(app: FastifyInstance, states: RecordStates): void {
  addRoute(
    app,
    'getRecordState',
    {
      description:
        'Whether the record is purged, by whom and why, until when it can be restored, and the legal holds over it. ' +
        'Once it is erased, its deletion certificate tells the rest.',
      params: recordIdParams,
      response: { 200: RecordStateSchema },
    },
    async (request) => states.get(request.caller, request.params.record_id.toLowerCase()),
  )
}
