using System;
using System.Runtime.InteropServices;

namespace Lpt
{
    // Functions that the library calls. An exception must not run through C: it ends here, and is what the failing call throws carries.
    public sealed unsafe partial class Context
    {
        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate void LogFunction(IntPtr user, LogLevel level, IntPtr text);

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        private delegate int ProgressFunction(IntPtr user, long done, long whole);

        // The library has their addresses as long as the context lives or until others take their place.
        private LogFunction log;
        private ProgressFunction progress;
        private Exception thrown;
        private string thrower;

        /// <summary>Has lines up to a level logged, on the thread that calls; null: silent. Where `hear` throws, the call does its
        /// work and fails with Internal.</summary>
        public void SetLog(LogLevel level, Action<LogLevel, string> hear)
        {
            var next = hear == null ? (LogFunction)null : (user, of, text) => Guarded("log", () => {
                hear(of, Text.Of((byte*)text));
                return false;
            });
            var status = Native.lpt_context_set_log(this, level, AddressOf(next), null);
            GC.KeepAlive(log); // the last one could be called until now
            if (status == Status.Ok) log = next;
            Check(status);
        }

        /// <summary>Has casts and products tell elements done and elements in all, on the thread that calls; null: no more. True ends
        /// the call, and so does an exception: it fails with Cancelled and leaves outputs written in part.</summary>
        public void SetProgress(Func<long, long, bool> isEnough)
        {
            var next = isEnough == null ? (ProgressFunction)null
                                        : (user, done, whole) => Guarded("progress", () => isEnough(done, whole)) ? 1 : 0;
            var status = Native.lpt_context_set_progress(this, AddressOf(next), null);
            GC.KeepAlive(progress); // the last one could be called until now
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

        /// <summary>What a callback threw in the last call, told once.</summary>
        private Exception TakeThrown(ref string text)
        {
            var problem = thrown;
            thrown = null;
            if (problem != null) text = (text == "" ? "" : text + "; ") + thrower + " threw: " + problem.Message;
            return problem;
        }
    }
}
