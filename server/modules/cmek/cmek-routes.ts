import type { FastifyInstance } from 'fastify'
import { addRoute, emptyBody } from '../../http/route.ts'
import { DestroyBody, DestroyedAnswer, RotatedAnswer } from './cmek-schemas.ts'
import type { CustomerKeys } from './customer-keys-service.ts'
import type { KeyDestruction } from './destruction-service.ts'

export function addCmekRoutes(app: FastifyInstance, customerKeys: CustomerKeys, destruction: KeyDestruction): void {
  addRoute(
    app,
    'rotateContentKey',
    {
      description:
        'Creates a new content key for new content, and rewraps the former keys under the newest version of the ' +
        'customer key. Stored content is not encrypted again.',
      body: emptyBody,
      bodyOptional: true,
      response: { 200: RotatedAnswer },
      problems: ['hub-not-provisioned', 'concurrent-modification'],
    },
    async (request) => customerKeys.rotate(request.caller),
  )

  addRoute(
    app,
    'destroyContentKeys',
    {
      description:
        'Permanently deletes every content key of the tenant. Content encrypted with them can no longer be ' +
        'decrypted; hashes, seals and log remain and verify. It cannot be undone. Refused while a legal hold or a ' +
        'minimum retention is in force. Provisioning the tenant again creates a new key for new content.',
      body: DestroyBody,
      response: { 200: DestroyedAnswer },
      problems: ['hub-not-provisioned', 'legal-hold', 'retention'],
    },
    async (request) => destruction.destroy(request.caller, request.body),
  )
}
