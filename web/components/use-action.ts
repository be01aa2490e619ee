import { useMutation } from '@tanstack/react-query'
import { queryClient } from '../api/query-client.ts'
import { toastDone } from './toast.ts'

export interface Action<Result, Input = void> {
  /** Calls the Hub; `done` and `onDone` get the body of the response. */
  // biome-ignore lint/suspicious/noConfusingVoidType: some actions call the Hub only to read, or not at all
  send(input: Input): Promise<{ data?: Result | undefined } | void>
  /** The message after success. */
  done?: string | ((result: Result) => string | undefined) | undefined
  /** The API paths whose queries are read again, each with the paths below it; or every query. */
  refresh?: readonly string[] | 'everything' | undefined
  /** Called once the queries are read again, so that the page shows the change when a dialog closes. */
  onDone?: ((result: Result) => unknown) | undefined
}

interface ActionOptions<Result, Input> extends Action<Result, Input> {
  /** Called after a failure that the page does not show by `error`. */
  onError?: (error: unknown) => void
}

/**
 * Returns the mutation of an action: it sends one change, says that it succeeded, and reads again what it changed.
 * `isPending`, `error` and `data` are its state; `mutate` starts it.
 */
export function useAction<Result, Input = void>({
  send,
  done,
  refresh = [],
  onDone,
  onError,
}: ActionOptions<Result, Input>) {
  return useMutation<Result, unknown, Input>({
    mutationFn: async (input) => (await send(input))?.data as Result,
    onSuccess: async (result) => {
      const message = typeof done === 'function' ? done(result) : done
      if (message !== undefined) toastDone(message)
      await readAgain(refresh)
      await onDone?.(result)
    },
    ...(onError && { onError }),
  })
}

/** Reads queries of API paths again, each with the paths below it, or every query. */
export function readAgain(refresh: readonly string[] | 'everything'): Promise<void> {
  if (refresh === 'everything') return queryClient.invalidateQueries()
  const isChanged = (path: unknown) => refresh.some((each) => path === each || String(path).startsWith(`${each}/`))
  return queryClient.invalidateQueries({ predicate: ({ queryKey }) => isChanged(queryKey[1]) })
}
