import { EmptyState } from '../../ui/empty-state.tsx'

/** Shows that a breakdown has no keys. */
export function NoEvents() {
  return <EmptyState title="No events here">Choose a longer range, or remove a filter.</EmptyState>
}
