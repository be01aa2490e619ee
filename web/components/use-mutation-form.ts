import { schemaResolver, type UseFormReturnType, useForm } from '@mantine/form'
import type { GenericSchema } from 'valibot'
import type { PointedError } from '../../contract/domain-error.ts'
import { fieldErrors } from './field-errors.ts'
import { type Action, useAction } from './use-action.ts'

interface MutationFormOptions<Values, Result> extends Pick<Action<Result>, 'done' | 'refresh'> {
  initialValues: Values
  /** Sends the values to the Hub; `done` and `onDone` get the body of the response. */
  send(values: Values, opened: Values): ReturnType<Action<Result>['send']>
  /** Checks the values before they are sent. */
  schema?: GenericSchema<unknown, unknown>
  /** Returns the field of a member of the body if the form has another name for it. */
  fieldOf?: (member: string, values: Values) => string | undefined
  /** Called once the queries are read again. */
  onDone?: (result: Result, form: UseFormReturnType<Values>) => unknown
}

/** The state of a form that `MutationForm` shows. */
export interface FormSubmission {
  submit: ReturnType<UseFormReturnType<unknown>['onSubmit']>
  /** True while the values are being sent. */
  busy: boolean
  /** The failure of the last submission; null without one. */
  error: unknown
  /** Errors of the failure that no field shows. */
  elsewhere: readonly PointedError[]
  isDirty(): boolean
}

/**
 * Returns a form of @mantine/form that sends its values to the Hub: checks them by a schema, sends them as an action,
 * and shows errors of the Hub at the fields that its JSON pointers name. Render its fields in a `MutationForm`.
 */
export function useMutationForm<Values extends object, Result>({
  initialValues,
  schema,
  fieldOf,
  send,
  onDone,
  ...action
}: MutationFormOptions<Values, Result>) {
  const form = useForm<Values>({
    initialValues,
    ...(schema && { validate: schemaResolver(schema, { sync: true }) }),
  })
  const { mutate, isPending, error, variables, reset } = useAction({
    ...action,
    send: (values: Values) => send(values, form.getInitialValues()),
    onDone: (result) => onDone?.(result, form),
  })
  const errorsOf = (failure: unknown, values: Values) =>
    fieldErrors(failure, values, (member) => fieldOf?.(member, values))
  return {
    ...form,
    submit: form.onSubmit((values) =>
      mutate(values, { onError: (failure) => form.setErrors(errorsOf(failure, values).atFields) }),
    ),
    busy: isPending,
    error,
    elsewhere: variables === undefined ? [] : errorsOf(error, variables).elsewhere,
    /** Removes the failure of the last submission. */
    clearFailure: reset,
  }
}
