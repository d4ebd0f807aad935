using System;
using System.Runtime.InteropServices;

namespace Lpt
{
    // Callbacks. Exceptions must not pass through C code: they are stored, and the call throws them as InnerException.
    public sealed unsafe partial class Context
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void LogFunction(IntPtr user, LogLevel level, IntPtr text);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int ProgressFunction(IntPtr user, long done, long total);

        // The library keeps their addresses until they are replaced or the context is destroyed.
        private LogFunction log;
        private ProgressFunction progress;
        private Exception thrown;
        private string thrower;

        /// <summary>Sets the log function, which receives lines up to a level on the calling thread; null disables the log. If it
        /// throws, the operation completes, and then fails with Internal.</summary>
        public void SetLog(LogLevel level, Action<LogLevel, string> hear)
        {
            var next = hear == null ? (LogFunction)null : (user, of, text) => Guarded("log", () => {
                hear(of, Text.Of((byte*)text));
                return false;
            });
            var status = Native.lpt_context_set_log(this, level, AddressOf(next), null);
            GC.KeepAlive(log); // the library may have called the previous function until now
            if (status == Status.Ok) log = next;
            Check(status);
        }

        /// <summary>Sets the progress function, which casts and GEMMs call on the calling thread; null removes it. It receives the
        /// completed and the total number of elements. If it returns true or throws, the call fails with Cancelled, and outputs
        /// are incomplete.</summary>
        public void SetProgress(Func<long, long, bool> isEnough)
        {
            var next = isEnough == null ? (ProgressFunction)null
                                        : (user, done, total) => Guarded("progress", () => isEnough(done, total)) ? 1 : 0;
            var status = Native.lpt_context_set_progress(this, AddressOf(next), null);
            GC.KeepAlive(progress); // the library may have called the previous function until now
            if (status == Status.Ok) progress = next;
            Check(status);
        }

        private static IntPtr AddressOf(Delegate function)
        {
            return function == null ? IntPtr.Zero : Marshal.GetFunctionPointerForDelegate(function);
        }

        private bool Guarded(string name, Func<bool> call)
        {
            try
            {
                return call();
            }
            catch (Exception problem)
            {
                thrower = thrown == null ? name : thrower;
                thrown = thrown ?? problem;
                return true;
            }
        }

        /// <summary>Returns the exception of a callback in the last call, and clears it.</summary>
        private Exception TakeThrown(ref string text)
        {
            var problem = thrown;
            thrown = null;
            if (problem != null) text = (text == "" ? "" : text + "; ") + thrower + " threw: " + problem.Message;
            return problem;
        }
    }
}
