import { type Access, type Operation, type OperationId, operations } from './operations.ts'
import type { Scope } from './scopes.ts'

/** Returns whether the scopes permit an operation that requires a token. */
export function admits(access: Access & { kind: 'token' }, held: ReadonlySet<Scope>): boolean {
  return access.anyOf.some((alternative) => alternative.every((scope) => held.has(scope)))
}

/**
 * Whether somebody signed in with these scopes may call the operation: the check of the API, for a UI that shows only
 * what will work. Operations that look at no token are open.
 */
export function mayCall(scopes: Iterable<Scope>, operationId: OperationId): boolean {
  const { access }: Operation = operations[operationId]
  return access.kind !== 'token' || admits(access, new Set(scopes))
}
