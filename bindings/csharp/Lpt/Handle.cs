using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Lpt
{
    /// <summary>Owns a handle of the library. Handles can be disposed in any order; the finalizer destroys other handles.</summary>
    public abstract class Handle : SafeHandle
    {
        private GCHandle pin;
        private List<Handle> kept;

        internal Handle(IntPtr raw) : base(IntPtr.Zero, true) { SetHandle(raw); }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        /// <summary>Calls the destroy function of the library.</summary>
        protected abstract void Destroy();

        protected override bool ReleaseHandle()
        {
            Destroy();
            if (pin.IsAllocated) pin.Free();
            if (kept != null) kept.ForEach(other => other.DangerousRelease());
            return true;
        }

        /// <summary>Keeps an array pinned as long as this handle is open.</summary>
        internal void Hold(GCHandle array) { pin = array; }

        /// <summary>Keeps another handle and its array alive as long as this handle is open.</summary>
        internal void Keep(Handle other)
        {
            var isAdded = false;
            other.DangerousAddRef(ref isAdded);
            (kept = kept ?? new List<Handle>()).Add(other);
        }
    }

    /// <summary>Error of a call: the status, and the error text of the library. InnerException is the exception of a
    /// callback.</summary>
    public sealed class LptException : Exception
    {
        public LptException(Status status, string text, Exception inner = null) : base(text, inner) { Status = status; }

        public Status Status { get; private set; }

        /// <summary>Name of the status, such as "invalid argument".</summary>
        public string StatusText { get { return Text.Of(Status); } }
    }

    internal static unsafe class Text
    {
        internal static string Of(Status status) { return Of(Native.lpt_status_string(status)); }

        /// <summary>Converts zero-terminated UTF-8 to a string.</summary>
        internal static string Of(byte* text)
        {
            var length = 0;
            while (text[length] != 0) ++length;
            return Encoding.UTF8.GetString(text, length);
        }

        internal static byte[] ToUtf8(string text) { return Encoding.UTF8.GetBytes(text + "\0"); }

        /// <summary>Writes the defaults of a struct.</summary>
        internal static void Initialize(string type, void* value, int bytes)
        {
            fixed (byte* name = ToUtf8(type)) Native.lpt_struct_init(name, value, (UIntPtr)bytes);
        }
    }
}
