import { EmptyState } from '../../ui/empty-state.tsx'

/** In a breakdown without keys. */
export function NoEvents() {
  return <EmptyState title="No events here">Choose a longer range, or remove a filter.</EmptyState>
}
