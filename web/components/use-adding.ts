import { useNavigate, useSearch } from '@tanstack/react-router'

/**
 * Returns whether the form that adds something is open, and functions that open and close it. The address has it as
 * `add=1`, so that the command palette and links can open the form.
 */
export function useAdding(): [adding: boolean, form: { open(): void; close(): void }] {
  const search: { add?: string } = useSearch({ strict: false })
  const navigate = useNavigate()
  const set = (add: '1' | undefined) =>
    void navigate({ to: '.', search: ((former: object) => ({ ...former, add })) as never, replace: true })
  return [search.add === '1', { open: () => set('1'), close: () => set(undefined) }]
}
